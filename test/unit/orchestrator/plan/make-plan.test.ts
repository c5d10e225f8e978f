import { describe, expect, test } from "vitest";
import { type Plan, planSchema } from "../../../../src/contract/plan.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything, labelsOf, onlyValkey, planFor, requestOf } from "../../../helpers/request.js";

const labels = (plan: Plan) => [...new Set(labelsOf(plan))];
const durations = (plan: Plan) =>
  plan.configurations.map(({ configuration: { target, load, extent } }) => [
    target.topology,
    load.connections,
    "duration_s" in extent ? extent.duration_s : undefined,
  ]);

test("a threshold by which nothing would be judged is refused", async () => {
  const flags = ["--threshold", "p99<10ms"];
  await expectFailure(
    () => planFor("--clients", "none,memory", ...flags),
    EXIT.usage,
    "--threshold",
  );
  expect(labels(planFor("--clients", "memory,iovalkey", ...flags))).toContain("iovalkey");
});

test.each([
  ["a store of the user", ["--store-url", "redis://localhost:1"], "rediss://"],
  ["pods", ["--runtime", "kubernetes"], "--runtime"],
])("%s cannot get a certificate of ours: +tls is skipped with the fix", (_what, flags, fix) => {
  const { skips } = planFor("--clients", "ioredis,ioredis+tls", ...flags);
  expect(skips).toEqual([{ asked: "ioredis+tls", reason: expect.stringContaining(fix) }]);
});

describe("which targets are planned", () => {
  test.each([
    [
      "all",
      [
        "valkey-glide",
        "iovalkey",
        "ioredis",
        "valkey-glide:cluster",
        "iovalkey:cluster",
        "ioredis:cluster",
      ],
    ],
    ["standalone", ["valkey-glide", "iovalkey", "ioredis"]],
    ["cluster", ["valkey-glide:cluster", "iovalkey:cluster", "ioredis:cluster"]],
    ["controls", ["none", "memory"]],
    ["standalone,iovalkey none", ["valkey-glide", "iovalkey", "ioredis", "none"]],
    ["ioredis@valkey:cluster", ["ioredis@valkey:cluster"]],
  ])("%s", (clients, expected) => {
    const plan = planFor("--clients", clients);
    expect(labels(plan)).toEqual(expected);
    expect(planSchema.parse(plan)).toEqual(plan);
  });

  test("a target with two names is measured once, with a note [R-duplicates-2]", () => {
    const plan = planFor("--clients", "iovalkey iovalkey@valkey");
    expect(labels(plan)).toEqual(["iovalkey"]);
    expect(plan.notes).toEqual([expect.stringContaining("iovalkey@valkey")]);
  });

  test("ioredis runs on Valkey where there is no Redis, with a label and a note that say so", () => {
    const plan = makePlan(requestOf("--clients", "ioredis"), onlyValkey);
    expect(labels(plan)).toEqual(["ioredis@valkey"]);
    expect(plan.configurations[0]?.configuration.target.text).toBe("ioredis@valkey:standalone");
    expect(plan.notes).toEqual([expect.stringMatching(/ioredis .*valkey/)]);
    expect(plan.runs[0]?.file).toMatch(/^ioredis-valkey_light_/);
  });

  test.each([
    ["ioredis,iovalkey", "ioredis@valkey"],
    ["ioredis@redis+fastify-rate-limit,iovalkey,valkey-glide", "ioredis@valkey+fastify-rate-limit"],
  ])("%s are not compared: a note names %s, which would be", (clients, fair) => {
    expect(planFor("--clients", clients).notes).toContainEqual(expect.stringContaining(`${fair} `));
  });

  test.each(["ioredis@redis,ioredis@valkey", "ioredis@valkey,iovalkey", "none,memory,ioredis"])(
    "%s get no such note",
    (clients) => {
      const flags = ["--clients", clients, "--duration-mode", "custom:5"];
      expect(planFor(...flags).notes).toEqual([]);
    },
  );

  test.each([
    ["custom:7", true],
    ["custom:6", false],
  ])("windows of %s have long turns before them, which a note says: %s", (duration, isSaid) => {
    const { notes } = planFor("--clients", "none,memory", "--duration-mode", duration);
    expect(notes.some((note) => note.includes("(M33)"))).toBe(isSaid);
  });

  test("a store that already runs: what its memory's limit does is said, and nothing is done to it, as a dry run knows", () => {
    const external = {
      store: "redis",
      version: "8.0.0",
      topology: "standalone",
      nodes: [],
      memory: { max_bytes: 5e6, policy: "volatile-lru" },
    };
    const { notes } = makePlan(requestOf("--clients", "ioredis"), { ...everything, external });
    expect(notes).toContainEqual(expect.stringMatching(/5 MB.*volatile-lru/));
    const flags = ["--store-url", "redis://cache", "--fault", "store-restart", "--rate", "100"];
    expect(() => planFor("--clients", "ioredis", ...flags)).toThrow(/already runs/);
  });

  test("preset publication: four clients on one store, in two rankings with a copy each", () => {
    const found = labels(makePlan(requestOf("--preset", "publication"), onlyValkey));
    const clients = ["ioredis@valkey", "node-redis@valkey", "valkey-glide"];
    const ranking = (script: string) => clients.map((client) => `${client}${script}`);
    expect([...found].sort()).toEqual(
      [
        "iovalkey",
        "iovalkey+copy",
        ...ranking(""),
        "iovalkey+same-script",
        "iovalkey+copy+same-script",
        ...ranking("+same-script"),
        "none",
      ].sort(),
    );
  });

  test("a store that was requested by name is not replaced: the target is skipped with the reason", () => {
    const plan = makePlan(requestOf("--clients", "iovalkey,ioredis@redis"), onlyValkey);
    expect(labels(plan)).toEqual(["iovalkey"]);
    expect(plan.skips).toEqual([
      { asked: "ioredis@redis", reason: expect.stringContaining("redis-server") },
    ]);
  });

  test("a limiter that cannot keep the limits is skipped with the reason, and the others are planned", () => {
    const both = ["--clients", "ioredis,ioredis+fastify-rate-limit"];
    expect(labels(planFor(...both))).toHaveLength(2);
    const { skips, ...plan } = planFor(...both, "--block", "5");
    expect(labels({ skips, ...plan })).toEqual(["ioredis"]);
    expect(skips.map(({ asked }) => asked)).toEqual(["ioredis+fastify-rate-limit"]);
  });

  test("a limiter without denials at equal cost takes traffic alone that is all admitted, and no quota that can be used up", () => {
    const log = ["--clients", "ioredis,ioredis+async-ratelimiter"];
    const mixed = planFor(...log, "--traffic", "realistic,allowed,denied");
    const own = mixed.configurations.filter(
      ({ configuration: { target } }) => target.options.length > 0,
    );
    expect([...new Set(own.map(({ configuration: { traffic } }) => traffic))]).toEqual(["allowed"]);
    expect(mixed.skips.map(({ asked }) => asked)).toEqual(["ioredis+async-ratelimiter"]);
    const quota = planFor(...log, "--traffic", "allowed", "--points", "5");
    expect(labels(quota)).toEqual(["ioredis"]);
  });

  test("impossible pairs are skipped with the reason [R-impossible-1]", () => {
    const plan = planFor("--clients", "iovalkey@redis,memory:cluster,none");
    expect(labels(plan)).toEqual(["none"]);
    expect(plan.skips.map(({ asked }) => asked)).toEqual(["iovalkey@redis", "memory:cluster"]);
    expect(plan.skips[0]?.reason).toContain("valkey only");
  });

  test("nothing left to measure is bad usage that repeats the reasons [R-impossible-2]", async () => {
    const request = requestOf("--clients", "iovalkey@redis");
    await expectFailure(
      () => makePlan(request, everything),
      EXIT.usage,
      "nothing is left",
      "valkey only",
    );
  });

  test.each<[string[], ...string[]]>([
    [["--clients", "iovalky"], 'no client or group "iovalky"', "did you mean iovalkey?"],
    [["--clients", "contorls"], "controls"],
    [["--clients", "iovalkey@mars"], "there is no store", "valkey, redis"],
    [["--clients", "iovalkey:ring"], "there is no topology", "standalone, cluster"],
    [["--clients", "ioredis~5"], "ioredis~1.2.3"],
    [["--clients", "iordis~5.6.1"], 'no client "iordis"', "did you mean ioredis?"],
    [["--clients", "ioredis+same-script~1.0.0"], "same-script has no versions"],
    [["--clients", "ioredis+fastify-rate-limit+rate-limiter-flexible~7.1.1"], "two limiters"],
    [["--clients", "memory~1.0.0"], "nothing is left", "memory has no versions"],
    [
      ["--limiter", "rate-limiter-flexibel~7.1.1"],
      "no limiter",
      "did you mean rate-limiter-flexible?",
    ],
    [["--limiter", "rate-limiter-flexible~7"], "rate-limiter-flexible~1.2.3"],
    [["--limiter", "none"], "no limiter", "valid: rate-limiter-flexible, fastify-rate-limit"],
    [["--clients", "ioredis+turbo"], "no option"],
    [["--clients", "$(touch x)"], "not of the form"],
    [["--workload", "heavi"], '"heavi"', "did you mean heavy?", "light, heavy"],
    [["--traffic", "realistik"], "did you mean realistic?", "realistic, fixed, allowed, denied"],
  ])("%j is bad usage", async (flags, ...parts) => {
    await expectFailure(() => planFor(...flags), EXIT.usage, ...parts);
  });
});

describe("each configuration", () => {
  test("dynamic durations: 120 s, 180 s above 100 connections, 30 s more for a cluster", () => {
    const clients = ["--clients", "iovalkey iovalkey:cluster", "--concurrency", "50 100 101"];
    expect(durations(planFor(...clients))).toEqual([
      ["standalone", 50, 120],
      ["cluster", 50, 150],
      ["standalone", 100, 120],
      ["cluster", 100, 150],
      ["standalone", 101, 180],
      ["cluster", 101, 210],
    ]);
  });

  test("explicit limits win over the traffic's, one by one", () => {
    const limits = (...flags: string[]) =>
      planFor(...flags).configurations[0]?.configuration.limits;
    const unlimited = { points: 1_000_000_000, window_s: 3600, block_s: 0 };
    expect(limits("--duration-mode", "custom:10")).toEqual(unlimited);
    expect(limits("--points", "5")).toEqual({ ...unlimited, window_s: 60, points: 5 });
    expect(limits("--window", "2", "--block", "3")).toEqual({
      ...unlimited,
      window_s: 2,
      block_s: 3,
    });
  });

  test("a quota that cannot be used up has a window longer than twice the run, by those that every system has", () => {
    const window = (...flags: string[]) =>
      planFor(...flags).configurations[0]?.configuration.limits.window_s;
    // With 10 s of warm-up, and the lead-in of 2 s.
    expect(window("--duration-mode", "custom:1")).toBe(3600);
    expect(window("--duration-mode", "custom:1787")).toBe(3600);
    expect(window("--duration-mode", "custom:1788")).toBe(86_400);
    expect(window("--duration-mode", "custom:2000")).toBe(86_400);
    expect(window("--duration-mode", "custom:25", "--window", "10")).toBe(10);
    expect(window("--duration-mode", "custom:25", "--points", "5")).toBe(60);
    expect(window("--duration-mode", "requests:100000")).toBe(3600);
  });

  test("traffic other than the default is part of the file names, which are all different", () => {
    const flags = [
      "--traffic",
      "realistic fixed",
      "--clients",
      "all",
      "--workload",
      "both",
      "--runs",
      "2",
    ];
    const files = planFor(...flags).runs.map(({ file }) => file);
    expect(files).toContain("iovalkey-cluster_heavy_100c_150s_run2.json");
    expect(files).toContain("iovalkey_light_50c_120s_fixed_run1.json");
    expect(new Set(files).size).toBe(files.length);
  });
});

describe("numbers of requests instead of a time", () => {
  const flags = ["--clients", "ioredis", "--duration-mode", "requests:100,200"];

  test("each is a configuration with a file of its own", () => {
    const { configurations, runs } = planFor(...flags, "--concurrency", "4", "--runs", "1");
    expect(configurations.map(({ configuration: { extent } }) => extent)).toEqual([
      { requests: 100 },
      { requests: 200 },
    ]);
    expect(runs.map(({ file }) => file).sort()).toEqual([
      "ioredis_light_4c_100r_run1.json",
      "ioredis_light_4c_200r_run1.json",
    ]);
  });

  test("fewer than connections are refused, unless a schedule sends them", async () => {
    const plan = (...more: string[]) => planFor(...flags, "--concurrency", "101", ...more);
    await expectFailure(() => plan(), EXIT.usage, "100 requests", "--concurrency 101");
    expect(plan("--rate", "50").configurations).toHaveLength(2);
  });
});
