import { expect } from "vitest";
import type { MeasuredResult } from "../../src/contract/result.js";
import { Campaign } from "./campaign.js";
import { expectConsistent, expectReconciled } from "./expectations.js";

function expectNoneInvalid({ measured }: Campaign): void {
  const reasons = measured.flatMap(({ verdict }) => verdict.reasons);
  expect(reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
}

/** A campaign that ended well, left nothing, and has no invalid run. */
export async function validCampaign(...asked: Parameters<typeof Campaign.run>): Promise<Campaign> {
  const campaign = Campaign.run(...asked);
  await campaign.ends();
  expectNoneInvalid(campaign);
  return campaign;
}

/** The results of a campaign without an invalid run. It is ended before its report. */
export async function validResults(
  ...asked: Parameters<typeof Campaign.run>
): Promise<MeasuredResult[]> {
  const campaign = Campaign.run(...asked);
  await campaign.endsBeforeReport();
  expectNoneInvalid(campaign);
  return campaign.measured;
}

/** One whose results are also reconciled by the test's own arithmetic. */
export async function measuredCampaign(
  ...asked: Parameters<typeof Campaign.run>
): Promise<Campaign> {
  const campaign = await validCampaign(...asked);
  for (const result of campaign.measured) expectAddsUp(result);
  return campaign;
}

/** Results that are also reconciled by the test's own arithmetic. */
export async function measuredResults(
  ...asked: Parameters<typeof Campaign.run>
): Promise<MeasuredResult[]> {
  const results = await validResults(...asked);
  for (const result of results) expectAddsUp(result);
  return results;
}

function expectAddsUp(result: MeasuredResult): void {
  expectConsistent(result);
  expectReconciled(result);
}
