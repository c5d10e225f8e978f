import { expect } from "vitest";
import { Campaign } from "./campaign.js";
import { expectConsistent, expectReconciled } from "./expectations.js";

/** A campaign that ended well and left nothing, with each result reconciled by the test's own arithmetic. */
export async function measuredCampaign(
  home: string,
  clients: string,
  flags: readonly string[],
): Promise<Campaign> {
  const campaign = Campaign.run(home, clients, flags);
  await campaign.endsWell();
  for (const result of campaign.measured) {
    expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
    expectConsistent(result);
    expectReconciled(result);
  }
  expect(await campaign.leftovers()).toEqual([]);
  return campaign;
}
