import { beforeAll, describe, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build } from "../../helpers/programs.js";

// Alone: the share that limits refuse follows the speed.
beforeAll(build);
const newFolder = temporaryFolders();

describe("explicit limits", () => {
  test("that bind are met as predicted, with a block too, and the store's counts stay exact", async () => {
    const limits = ["--points", "40", "--window", "1", "--block", "2", "--duration-mode", "custom:2"];
    const campaign = Campaign.run(newFolder(), "iovalkey", limits);
    expect((await campaign.ended).code).toBe(0);
    const [result] = campaign.measured;
    if (!result) throw new Error("a result");
    expectReconciled(result);
    expect(result.prediction?.basis).toBe("limits");
    expect(result.prediction?.limited_share).toBeGreaterThan(0.2);
    expect(result.configuration?.limits).toEqual({ points: 40, window_s: 1, block_s: 2 });
    expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
  });
});

describe("another limiter", () => {
  test("meets limits that bind as predicted, its script calls are its consumes, and it is told apart", async () => {
    const limits = ["--points", "40", "--window", "1", "--duration-mode", "custom:2"];
    const clients = "iovalkey+fastify-rate-limit,memory+fastify-rate-limit";
    const campaign = Campaign.run(newFolder(), clients, limits);
    const { code, stderr } = await campaign.ended;
    expect(code, stderr).toBe(0);
    for (const result of campaign.measured) {
      expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
      expectReconciled(result);
      expect(result.configuration?.target.limiter).toBe("fastify-rate-limit");
      expect(result.prediction).toMatchObject({ basis: "limits" });
      expect(result.prediction?.limited_share).toBeGreaterThan(0.15);
      expect(result.versions.limiter).toMatch(/^11\./);
    }
    expect([...campaign.results.keys()]).toEqual([
      "iovalkey-fastify-rate-limit_light_8c_2s_run1.json",
      "memory-fastify-rate-limit_light_8c_2s_run1.json",
    ]);
  });
});
