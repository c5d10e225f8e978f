import { expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";

// Alone: the share that limits refuse follows the speed.
const newFolder = temporaryFolders();

test("limits that bind are met as predicted, and the store's counts stay exact, with each limiter", async () => {
  const limits = ["--points", "40", "--window", "1", "--duration-mode", "custom:2"];
  const clients = "iovalkey,iovalkey+fastify-rate-limit,memory+fastify-rate-limit";
  const campaign = Campaign.run(newFolder(), clients, limits);
  await campaign.ends();
  expect(campaign.measured).toHaveLength(3);
  for (const result of campaign.measured) {
    expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
    expectReconciled(result);
    expect(result.prediction).toMatchObject({ basis: "limits" });
    expect(result.prediction?.limited_share).toBeGreaterThan(0.15);
    expect(result.configuration?.limits).toMatchObject({ points: 40, window_s: 1 });
  }
});
