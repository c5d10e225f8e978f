import { expect } from "vitest";
import type { MeasuredResult } from "../../src/contract/result.js";
import { EXIT } from "../../src/kit/errors.js";
import { Campaign } from "./campaign.js";
import { expectConsistent, expectReconciled } from "./expectations.js";
import type { Ended } from "./programs.js";

/**
 * Rules that a run can break because of other programs on the machine. They say nothing of the
 * program under test.
 */
const OF_THE_MACHINE = ["M5", "M6", "M25", "M36"];

/** The reasons of a result that the machine does not explain. */
export const ownReasons = ({ verdict }: MeasuredResult) =>
  verdict.reasons.filter(({ rule }) => !OF_THE_MACHINE.includes(rule));

/** Waits for the end of a campaign, whose runs a busy machine may have made invalid. */
export async function endsOnBusyMachine(campaign: Campaign): Promise<Ended> {
  const ended = await campaign.ended;
  expect([EXIT.done, EXIT.runsInvalid], ended.stderr).toContain(ended.code);
  expect(await campaign.leftovers()).toEqual([]);
  return ended;
}

/** The reasons for which a result is invalid by its own doing. */
export const ownInvalidity = (result: MeasuredResult) =>
  ownReasons(result).filter(({ severity }) => severity === "invalid");

function expectNoneInvalid({ measured }: Campaign): void {
  expect(measured.flatMap(ownInvalidity)).toEqual([]);
}

/** A campaign that ended well, left nothing, and has no run that is invalid by its own doing. */
export async function validCampaign(...asked: Parameters<typeof Campaign.run>): Promise<Campaign> {
  const campaign = Campaign.run(...asked);
  await endsOnBusyMachine(campaign);
  expectNoneInvalid(campaign);
  return campaign;
}

/** The results of such a campaign. It is ended before its report. */
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
