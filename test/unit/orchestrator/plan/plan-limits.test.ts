import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { expectFailure } from "../../../helpers/errors.js";
import { planFor } from "../../../helpers/request.js";

describe("lists of limits", () => {
  const flags = ["--clients", "ioredis,memory", "--concurrency", "4", "--traffic", "fixed"];
  const limitsOf = (...more: string[]) =>
    planFor(...flags, ...more).configurations.map(({ configuration: { limits } }) => limits);

  test("each combination is a configuration with a hash and a file of its own", () => {
    const lists = ["--points", "10,100", "--window", "1,10,60", "--cost", "1,5", "--runs", "1"];
    const plan = planFor(...flags, ...lists);
    expect(plan.configurations).toHaveLength(2 * 2 * 3 * 2);
    expect(new Set(plan.configurations.map(({ hash }) => hash)).size).toBe(24);
    const files = plan.runs.map(({ file }) => file);
    expect(new Set(files).size).toBe(24);
    expect(files).toContain("ioredis_light_4c_120s_10points_60s-window_cost5_fixed_run1.json");
    expect(files).toContain("memory_light_4c_120s_100points_1s-window_fixed_run1.json");
  });

  test("a cost of 1 is the same as none, and limits that are not given are the traffic's", () => {
    expect(limitsOf("--cost", "1")).toEqual(limitsOf());
    const limits = { points: 7, window_s: 60, block_s: 0, cost: 5 };
    expect(limitsOf("--cost", "5", "--points", "7")[0]).toEqual(limits);
  });

  test("a limiter that counts requests is skipped at a cost, and measured without", () => {
    const clients = ["--clients", "ioredis,ioredis+fastify-rate-limit"];
    const others = flags.slice(2);
    const { configurations, skips } = planFor(...clients, ...others, "--cost", "1,5");
    expect(
      configurations.map(
        ({ configuration: { target, limits } }) => `${target.label} ${limits.cost ?? 1}`,
      ),
    ).toEqual(["ioredis 1", "ioredis+fastify-rate-limit 1", "ioredis 5"]);
    expect(skips.map(({ asked }) => asked)).toEqual(["ioredis+fastify-rate-limit"]);
  });
});

describe("counters in each process under a quota that requests use up", () => {
  const flags = ["--clients", "memory,none,iovalkey"];

  test("more than one server is skipped with the reason; one is planned", () => {
    const plan = planFor(...flags, "--concurrency", "4", "--servers", "1,2,4", "--points", "5");
    const ofMemory = plan.configurations.filter(
      ({ configuration: { target } }) => target.label === "memory",
    );
    expect(ofMemory.map(({ configuration }) => configuration.servers)).toEqual([1]);
    expect(plan.configurations).toHaveLength(7);
    expect(plan.skips).toEqual([
      { asked: "memory", reason: expect.stringContaining("2 servers") },
      { asked: "memory", reason: expect.stringContaining("4 servers") },
    ]);
  });

  test("more than one worker is skipped at the limiter layer alone", () => {
    const skips = (...more: string[]) =>
      planFor(...flags, "--points", "5", "--workers", "3", ...more).skips;
    expect(skips()).toEqual([]);
    expect(skips("--layer", "limiter").map(({ reason }) => reason)).toEqual([
      expect.stringContaining("3 workers"),
    ]);
    // There are no more workers than decisions at a time.
    expect(skips("--layer", "limiter", "--concurrency", "1")).toEqual([]);
    const several = skips("--layer", "limiter", "--workers", "1", "--generators", "2");
    expect(several.map(({ reason }) => reason)).toEqual([expect.stringContaining("2 workers")]);
  });
});

const flags = ["--clients", "iovalkey", "--traffic", "boundary", "--duration-mode", "custom:6"];
const limitsOf = (...more: string[]) =>
  planFor(...flags, ...more).configurations.map(({ configuration }) => configuration.limits);

describe("traffic whose quota binds", () => {
  test("gets the quota of its rate and window, in points of the cost", () => {
    expect(limitsOf("--rate", "2500,5000")).toEqual([
      { points: 5, window_s: 2, block_s: 0 },
      { points: 10, window_s: 2, block_s: 0 },
    ]);
    expect(limitsOf("--rate", "5000", "--window", "1", "--cost", "3")).toEqual([
      { points: 15, window_s: 1, block_s: 0, cost: 3 },
    ]);
  });

  test.each([
    [[], "--rate"],
    [["--rate", "5000", "--points", "10"], "leave --points out"],
    [["--rate", "5000", "--block", "5"], "leave --block out"],
    [["--rate", "100"], "--window 50"],
    [["--rate", "5000", "--window", "3"], "custom:9 or more"],
    [["--rate", "5000", "--find-max-rate", "--slo", "p99<10ms"], "in place of --find-max-rate"],
  ])("%j is refused, with what would help [R-boundary-1]", async (more, text) => {
    await expectFailure(() => limitsOf(...more), EXIT.usage, "--traffic boundary: ", text);
  });

  test("is not sent by several generators: each would know a part of the requests of a key", () => {
    const plan = planFor(...flags, "--rate", "5000", "--generators", "1,2");
    expect(plan.configurations.map(({ configuration }) => configuration.generators)).toEqual([
      undefined,
    ]);
    expect(plan.skips).toEqual([
      { asked: "iovalkey", reason: expect.stringMatching(/^--generators 2: .*boundary/) },
    ]);
  });
});
