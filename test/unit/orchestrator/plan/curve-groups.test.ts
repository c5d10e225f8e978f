import { describe, expect, test } from "vitest";
import { plannedConfiguration, roundOf, unitsOf } from "../../../../src/contract/plan.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { decidable } from "../../../../src/orchestrator/plan/decidable.js";
import { estimateCampaignS, groupsEstimate } from "../../../../src/orchestrator/plan/estimate.js";
import { GROUP_SIZE } from "../../../../src/orchestrator/plan/turn-groups.js";
import { isCopy } from "../../../../src/targets/options.js";
import { expectFailure } from "../../../helpers/errors.js";
import { planFor } from "../../../helpers/request.js";

const CURVE = ["--rates", "500,2000", "--load-curve", "--duration-mode", "custom:2"];
const planOf = (clients: string, ...flags: string[]) =>
  planFor("--clients", clients, "--runs", "6", ...CURVE, ...flags);

describe("the plan of a load curve", () => {
  test("has each target at each load once in a round, and all of its loads in one group", () => {
    const plan = planOf("ioredis@valkey,iovalkey,valkey-glide,none");
    expect(plan.load_curve).toEqual({ rates: [500, 2000], saturation: true });
    expect(plan.configurations).toHaveLength(15);
    for (const unit of unitsOf(plan, plan.runs)) {
      const configurations = unit.map(
        (run) => plannedConfiguration(plan, run.configuration_hash).configuration,
      );
      const targets = new Set(configurations.map(({ target }) => target.text));
      expect(targets.size).toBe(GROUP_SIZE);
      const pairs = configurations.map(
        ({ target, load }) => `${target.text} ${JSON.stringify(load)}`,
      );
      expect(new Set(pairs).size).toBe(15);
    }
  });

  test("splits more than five targets into groups, each with the reference at all loads", () => {
    const plan = planOf("ioredis@valkey,iovalkey,valkey-glide,node-redis@valkey,none");
    const units = [...unitsOf(plan, plan.runs)].filter(([first]) => roundOf(first) === 1);
    expect(units).toHaveLength(2);
    for (const unit of units) {
      const references = unit.filter(({ configuration_hash }) =>
        plan.rankings?.some(({ reference }) => reference === configuration_hash),
      );
      expect(references).toHaveLength(3);
    }
  });

  test("has a copy of the reference at each load, and one family over all loads", () => {
    const plan = planOf("ioredis@valkey,iovalkey,valkey-glide");
    const copies = plan.configurations.filter(({ configuration }) => isCopy(configuration.target));
    expect(copies).toHaveLength(3);
    expect(plan.rankings?.map(({ family }) => family)).toEqual([6, 6, 6]);
    expect(decidable(plan).lines[0]).toContain("6 comparisons at 3 loads");
  });

  test("of one target alone goes by turns", () => {
    const plan = planFor("--rates", "500");
    expect(plan.order).toBe("turns");
    expect(plan.runs.every(({ group }) => group === 1)).toBe(true);
  });

  test("counts the time of turns, and starts a target once for all of its loads", () => {
    const overheads = { standalone: 10, none: 10 };
    const flags = ["--runs", "1", "--warmup", "0"];
    const short = planOf("ioredis@valkey", ...flags);
    const atMoreLoads = planOf("ioredis@valkey", ...flags, "--rates", "1000");
    const more_s = estimateCampaignS(atMoreLoads, overheads) - estimateCampaignS(short, overheads);
    expect(more_s).toBeGreaterThan(2);
    expect(more_s).toBeLessThan(5);
    expect(groupsEstimate(short, overheads)).toMatchObject({ targets: 1, start_s: 10 });
  });

  test.each([
    [["--store-cpus", "1"], "2 CPUs"],
    [["--points", "5"], "quota"],
  ])("is refused where its targets cannot go by turns: %j", async (flags, text) => {
    await expectFailure(() => planOf("ioredis", ...flags), EXIT.usage, text);
  });

  test("with a load program is refused or leaves it out", async () => {
    await expectFailure(() => planOf("ioredis+wrk"), EXIT.usage, "wrk");
  });
});
