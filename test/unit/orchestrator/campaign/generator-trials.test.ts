import { describe, expect, test } from "vitest";
import type { Configuration } from "../../../../src/contract/configuration.js";
import {
  generatorsNeeded,
  generatorsText,
  hardestLoads,
  withGenerators,
} from "../../../../src/orchestrator/campaign/generator-trials.js";
import { makePlan, selectConfigurations } from "../../../../src/orchestrator/plan/make-plan.js";
import { PartFailed } from "../../../../src/orchestrator/run/part-supervisor.js";
import { everything, requestOf } from "../../../helpers/request.js";

const AUTO = ["--generators", "auto"];
const asked = (...flags: string[]) => requestOf("--clients", "iovalkey,ioredis", ...AUTO, ...flags);
const hardest = (...flags: string[]) =>
  hardestLoads(selectConfigurations(asked(...flags), everything));

/** Trials of a generator that sends so much at most. @param capacity of everything else */
async function trialsWith(
  configurations: readonly Configuration[],
  perGenerator: number,
  capacity: number,
) {
  const trials: [string, number][] = [];
  const needed = await generatorsNeeded(
    configurations,
    async ({ target, generators = 1 }) => {
      trials.push([target.label, generators]);
      const sent = generators * perGenerator;
      return { isSaturated: sent < capacity, requests_per_second: Math.min(sent, capacity) };
    },
    () => {},
  );
  return { ...needed, trials };
}

describe("the number of generators, where a campaign is to find it", () => {
  test("is asked of each target once, at its hardest load; not at the limiter layer", () => {
    const closed = hardest("--concurrency", "10 100 50", "--layer", "server,limiter");
    expect(closed.map(({ target, load }) => [target.label, load.connections])).toEqual([
      ["iovalkey", 100],
      ["ioredis", 100],
    ]);
    const open = hardest("--rate", "500,2000");
    expect(open.map(({ load }) => load.model === "open" && load.rate_per_second)).toEqual([
      2000, 2000,
    ]);
    for (const { extent } of [...closed, ...open]) expect(extent).toEqual({ duration_s: 5 });
  });

  test("is the fewest that no load saturates; a load that is not saturated is not measured again", async () => {
    const configurations = hardest("--concurrency", "100");
    const three = await trialsWith(configurations, 1000, 2500);
    expect(three).toMatchObject({ generators: 3, window_s: 5 });
    expect(
      three.measured.map(({ generators, is_saturated }) => [generators, is_saturated]),
    ).toEqual([
      [1, true],
      [1, true],
      [2, true],
      [2, true],
      [3, false],
      [3, false],
    ]);
    expect(generatorsText(three)).toMatch(/^3 generators.*--generators 3/);
    const { trials, ...one } = await trialsWith(configurations, 1000, 900);
    expect(one.generators).toBe(1);
    expect(generatorsText(one)).toContain("--generators 1");
    expect(trials).toEqual([
      ["iovalkey", 1],
      ["ioredis", 1],
    ]);
  });

  test("does not grow where one more sends no more, nor beyond the connections", async () => {
    const [one] = hardest("--concurrency", "3");
    if (!one) throw new Error("a target");
    const bound = await trialsWith([one], 1000, 1_000_000);
    expect(bound).toMatchObject({ generators: 3 });
    const saturated = async () => ({ isSaturated: true, requests_per_second: 1000 });
    const flat = await generatorsNeeded([one], saturated, () => {});
    expect(flat.generators).toBe(1);
    expect(generatorsText(flat)).toContain("--generators 1");
  });

  test("does not depend on a target that fails", async () => {
    const told: string[] = [];
    const fails = async () => {
      throw new PartFailed("server-1", "ended with 1");
    };
    const needed = await generatorsNeeded(hardest(), fails, (text) => told.push(text));
    expect(needed).toMatchObject({ generators: 1, measured: [] });
    expect(told[0]).toContain("left out iovalkey");
  });

  test("is one for all configurations, and repeats the campaign", () => {
    const request = asked("--concurrency", "8");
    expect(request).toMatchObject({
      entries: { findsGenerators: true, counts: { generators: [1] } },
    });
    const at = withGenerators(request, 3);
    const { configurations } = makePlan(at, everything);
    expect(configurations.map(({ configuration }) => configuration.generators)).toEqual([3, 3]);
    expect(at.record.settings.generators).toBe("3");
    expect(at.record.command).toContain("--generators 3");
    expect(at.record.command).not.toContain("auto");
  });
});
