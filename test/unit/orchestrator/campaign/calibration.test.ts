import { describe, expect, test } from "vitest";
import type { Configuration } from "../../../../src/contract/configuration.js";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  atRate,
  calibrate,
  calibrated,
  generatorsNeeded,
  generatorsText,
  hardestLoads,
  withCalibration,
  withGenerators,
} from "../../../../src/orchestrator/campaign/calibration.js";
import { makePlan, selectConfigurations } from "../../../../src/orchestrator/plan/make-plan.js";
import { PartFailed } from "../../../../src/orchestrator/run/part-supervisor.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything, requestOf } from "../../../helpers/request.js";

const FAULTS = ["--fault", "none,store-pause,store-restart", "--duration-mode", "custom:30"];
const requested = (...flags: string[]) =>
  requestOf("--clients", "iovalkey,ioredis,none", ...FAULTS, ...flags);

describe("the rate of a campaign with faults that names none", () => {
  test("is asked of each target once, in a closed loop without faults; not of controls", () => {
    const found = calibrated(selectConfigurations(requested(), everything));
    expect(found.map(({ target }) => target.label)).toEqual(["iovalkey", "ioredis"]);
    for (const configuration of found) {
      expect(configuration).toMatchObject({ load: { model: "closed" }, extent: { duration_s: 5 } });
      expect(configuration).not.toHaveProperty("faults");
    }
    expect(
      calibrated(selectConfigurations(requested("--servers", "1,2"), everything)),
    ).toHaveLength(4);
  });

  test("is 60 % of the slowest throughput in two digits, one for all, and part of the plan", async () => {
    const request = requested();
    const figures: Record<string, number> = { iovalkey: 20_000, ioredis: 9_876 };
    const told: string[] = [];
    const found = await calibrate(
      calibrated(selectConfigurations(request, everything)),
      async ({ target }) => figures[target.label] ?? Number.NaN,
      (text) => told.push(text),
    );
    expect(found.rate_per_second).toBe(5_900);
    expect(told).toHaveLength(2);
    const at = atRate(request, found.rate_per_second);
    const plan = withCalibration(makePlan(at, everything), found);
    for (const { configuration } of plan.configurations)
      expect(configuration.load).toMatchObject({ model: "open", rate_per_second: 5_900 });
    expect(plan.calibration).toMatchObject({ rate_per_second: 5_900, share: 0.6 });
    expect(plan.notes.at(-1)).toMatch(
      /5900\/s was found by calibration.*ioredis.*9876\/s.*--rate 5900/,
    );
    expect(at.settings.rate).toBe("5900");
    expect(at.command).toMatch(/ --rate 5900$/);
  });

  test("does not depend on a target that fails, but on one at least", async () => {
    const [one, other] = calibrated(selectConfigurations(requested(), everything));
    if (!one || !other) throw new Error("two targets were asked for");
    const fails = async () => {
      throw new PartFailed("server-1", "ended with 1");
    };
    const found = await calibrate(
      [one, other],
      ({ target }) => (target === one.target ? fails() : Promise.resolve(1_000)),
      () => {},
    );
    expect(found.rate_per_second).toBe(600);
    await expectFailure(
      () => calibrate([one], fails, () => {}),
      EXIT.environment,
      "--rate",
      "server-1",
    );
  });
});

const AUTO = ["--generators", "auto"];
const asked = (...flags: string[]) => requestOf("--clients", "iovalkey,ioredis", ...AUTO, ...flags);
const hardest = (...flags: string[]) =>
  hardestLoads(selectConfigurations(asked(...flags), everything));

/** Trials of a generator that sends so much at most. @param capacity of everything else */
function found(configurations: readonly Configuration[], perGenerator: number, capacity: number) {
  const trials: [string, number][] = [];
  const number = generatorsNeeded(
    configurations,
    async ({ target, generators = 1 }) => {
      trials.push([target.label, generators]);
      const sent = generators * perGenerator;
      return { isSaturated: sent < capacity, requests_per_second: Math.min(sent, capacity) };
    },
    () => {},
  );
  return number.then((found) => ({ ...found, trials }));
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
    const three = await found(configurations, 1000, 2500);
    expect(three).toMatchObject({ generators: 3, window_s: 5 });
    expect(
      three.measured.map(({ generators, is_saturated }) => [generators, is_saturated]),
    ).toEqual([
      ...[1, 1, 2, 2].map((number) => [number, true]),
      ...[3, 3].map((number) => [number, false]),
    ]);
    expect(generatorsText(three)).toMatch(/^3 generators.*--generators 3/);
    const { trials, ...one } = await found(configurations, 1000, 900);
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
    const bound = await found([one], 1000, 1_000_000);
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
    const found = await generatorsNeeded(hardest(), fails, (text) => told.push(text));
    expect(found).toMatchObject({ generators: 1, measured: [] });
    expect(told[0]).toContain("left out iovalkey");
  });

  test("is one for all configurations, and repeats the campaign", () => {
    const request = asked("--concurrency", "8");
    expect(request).toMatchObject({ findsGenerators: true, counts: { generators: [1] } });
    const at = withGenerators(request, 3);
    const { configurations } = makePlan(at, everything);
    expect(configurations.map(({ configuration }) => configuration.generators)).toEqual([3, 3]);
    expect(at.settings.generators).toBe("3");
    expect(at.command).toContain("--generators 3");
    expect(at.command).not.toContain("auto");
  });
});
