import { expect } from "vitest";
import { Campaign } from "./campaign.js";
import { expectConsistent, expectReconciled } from "./expectations.js";

/** A campaign that ended well, left nothing, and has no invalid run. */
export async function validCampaign(...asked: Parameters<typeof Campaign.run>): Promise<Campaign> {
  const campaign = Campaign.run(...asked);
  await campaign.ends();
  const reasons = campaign.measured.flatMap(({ verdict }) => verdict.reasons);
  expect(reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
  return campaign;
}

/** One whose results are also reconciled by the test's own arithmetic. */
export async function measuredCampaign(
  ...asked: Parameters<typeof Campaign.run>
): Promise<Campaign> {
  const campaign = await validCampaign(...asked);
  for (const result of campaign.measured) {
    expectConsistent(result);
    expectReconciled(result);
  }
  return campaign;
}
