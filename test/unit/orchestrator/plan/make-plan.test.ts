import { describe, expect, test } from "vitest";
import { type Plan, planSchema } from "../../../../src/contract/plan.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { requestedVersions } from "../../../../src/orchestrator/host/versions.js";
import { makePlan, type PlanContext } from "../../../../src/orchestrator/plan/make-plan.js";
import { plannedRankings } from "../../../../src/orchestrator/plan/rankings.js";
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

describe("web frameworks", () => {
  const flags = [
    "--clients",
    "none,ioredis@valkey",
    "--framework",
    "fastify,express",
    "--concurrency",
    "20",
  ];

  test("each target is measured with each, and the framework is installed first", () => {
    const plan = planFor(...flags);
    expect(labels(plan)).toEqual([
      "none",
      "none+express",
      "ioredis@valkey",
      "ioredis@valkey+express",
    ]);
    expect(plan.configurations.map(({ configuration }) => configuration.target.framework)).toEqual([
      undefined,
      "express",
      undefined,
      "express",
    ]);
    expect(requestedVersions(plan)).toEqual([{ name: "express", version: "5.3.0" }]);
  });

  test("they are ranked together only when asked", () => {
    const ranked = (plan: Plan) =>
      plannedRankings(plan)
        .filter(({ reference }) => reference)
        .map(({ members }) => members.map(({ configuration: { target } }) => target.label));
    expect(ranked(planFor(...flags, "--runs", "3"))).toEqual([]);
    expect(ranked(planFor(...flags, "--runs", "3", "--compare-frameworks"))).toEqual([
      ["ioredis@valkey", "ioredis@valkey+express"],
    ]);
  });

  test("where no server is, they are left out with the reason", () => {
    const plan = planFor(...flags, "--layer", "server,limiter");
    expect(plan.skips.map(({ asked }) => asked)).toEqual([
      "none+express",
      "ioredis@valkey+express",
    ]);
    expect(plan.skips[0]?.reason).toContain("--layer server");
  });

  test.each([
    ["memory+express-rate-limit", "express"],
    ["memory+nestjs-throttler", "nest"],
  ])("%s is measured in its own framework alone", async (target, own) => {
    const flags = ["--clients", target, "--points", "100"];
    await expectFailure(() => planFor(...flags), EXIT.usage, `--framework ${own}`);
    const plan = planFor(...flags, "--framework", "fastify,express,nest");
    expect(
      plan.configurations.map(({ configuration }) => configuration.target.framework),
    ).toContain(own);
    expect(labels(plan)).toHaveLength(1);
    expect(plan.skips).toHaveLength(2);
  });

  test("the memory of @nestjs/throttler takes no large quota", () =>
    expectFailure(
      () => planFor("--clients", "memory+nest+nestjs-throttler", "--points", "20001"),
      EXIT.usage,
      "--points",
    ));

  test("an unknown one is a usage error", async () => {
    await expectFailure(() => planFor("--framework", "expres"), EXIT.usage, "express");
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

describe("versions side by side", () => {
  const labels = (...flags: string[]) => labelsOf(planFor(...flags, "--concurrency", "10"));

  test("each target is combined with each limiter, unless it names its own or has none", () => {
    const limiters = "rate-limiter-flexible~7.1.1,rate-limiter-flexible,fastify-rate-limit~10.3.0";
    const clients = "ioredis~5.6.1,iovalkey+fastify-rate-limit,none";
    expect(labels("--clients", clients, "--limiter", limiters)).toEqual([
      "ioredis~5.6.1+rate-limiter-flexible~7.1.1",
      "ioredis~5.6.1",
      "ioredis~5.6.1+fastify-rate-limit~10.3.0",
      "iovalkey+fastify-rate-limit",
      "none",
    ]);
  });

  test("each target is measured on each version of the stores that it can use, unless it names one", () => {
    const versions = ["--store-versions", "valkey~8.1,valkey~9.1=/opt/a,b/valkey-server,redis~8.0"];
    expect(
      labels("--clients", "ioredis,iovalkey@valkey,node-redis@redis~7.4,memory", ...versions),
    ).toEqual([
      "ioredis@valkey~8.1",
      "ioredis@valkey~9.1",
      "ioredis@redis~8.0",
      "iovalkey@valkey~8.1",
      "iovalkey@valkey~9.1",
      "node-redis@redis~7.4",
      "memory",
    ]);
  });

  test("no two versions share a file or a hash, and targets without one keep theirs", () => {
    const clients = "ioredis,iovalkey:cluster,memory,ioredis+fastify-rate-limit";
    const flags = ["--clients", clients, "--window", "60"];
    const hashes = (...more: string[]) =>
      planFor(...flags, "--concurrency", "10", ...more).configurations.map(({ hash }) => hash);
    // As in the first campaign: a row can be followed over time.
    const before = ["87fa53feb878ea69", "1f1b6b5bfdd7a769", "4f3cac50289c7609", "411e9c17da3d365c"];
    expect(hashes()).toEqual(before);
    const versions =
      "rate-limiter-flexible~7.1.1,rate-limiter-flexible~11.4.0,rate-limiter-flexible";
    const all = hashes("--limiter", versions);
    expect(all).toEqual(expect.arrayContaining(before));
    expect(new Set(all).size).toBe(3 * 3 + 1);
    expect(new Set(hashes("--store-versions", "redis~8.0,redis~7.4,valkey~8.1")).size).toBe(
      3 + 1 + 1 + 3,
    );
    const { runs } = planFor(...flags, "--concurrency", "10", "--limiter", versions, "--runs", "1");
    expect(new Set(runs.map(({ file }) => file)).size).toBe(runs.length);
    for (const { file } of runs) expect(file).toMatch(/^[\w.-]+$/);
  });

  test("each package version that a target requests is installed once", () => {
    const clients = "ioredis~5.6.1,ioredis~5.6.1@valkey,valkey-glide~2.4.1,node-redis~5.8.0";
    const limiters = "rate-limiter-flexible~7.1.1,fastify-rate-limit~10.3.0";
    const plan = planFor("--clients", clients, "--limiter", limiters);
    expect(requestedVersions(plan).map(({ name, version }) => `${name} ${version}`)).toEqual([
      "ioredis 5.6.1",
      "rate-limiter-flexible 7.1.1",
      "@fastify/rate-limit 10.3.0",
      "@valkey/valkey-glide 2.4.1",
      "redis 5.8.0",
    ]);
    expect(requestedVersions(planFor("--clients", "all,controls"))).toEqual([]);
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

describe("layers and servers", () => {
  const planned = (...flags: string[]) => planFor("--concurrency", "8", "--runs", "1", ...flags);
  const entries = (plan: Plan) =>
    plan.configurations.map(({ configuration: { layer, servers, workload } }) => [
      layer,
      servers,
      workload.id,
    ]);

  test("every combination is planned; the limiter layer, without servers and workloads, once", () => {
    const plan = planned("--layer", "server,limiter", "--servers", "1,2", "--workload", "both");
    expect(entries(plan)).toEqual([
      ["server", 1, "light"],
      ["server", 1, "heavy"],
      ["server", 2, "light"],
      ["server", 2, "heavy"],
      ["limiter", 0, "none"],
    ]);
    expect(planSchema.parse(plan)).toEqual(plan);
    expect(plan.runs.map(({ file }) => file).sort()).toEqual([
      "iovalkey_heavy_8c_120s_2servers_run1.json",
      "iovalkey_heavy_8c_120s_run1.json",
      "iovalkey_light_8c_120s_2servers_run1.json",
      "iovalkey_light_8c_120s_run1.json",
      "iovalkey_limiter_8c_120s_run1.json",
    ]);
    expect(new Set(plan.configurations.map(({ hash }) => hash)).size).toBe(5);
  });

  test("generators are a part of a configuration, at every layer of ours; one is never named", () => {
    const plan = planned("--layer", "server,limiter", "--generators", "1,4");
    expect(
      plan.configurations.map(({ configuration: { layer, generators } }) => [layer, generators]),
    ).toEqual([
      ["server", undefined],
      ["server", 4],
      ["limiter", undefined],
      ["limiter", 4],
    ]);
    expect(plan.runs.map(({ file }) => file).sort()).toEqual([
      "iovalkey_light_8c_120s_4generators_run1.json",
      "iovalkey_light_8c_120s_run1.json",
      "iovalkey_limiter_8c_120s_4generators_run1.json",
      "iovalkey_limiter_8c_120s_run1.json",
    ]);
    const [alone] = planned().configurations;
    expect(plan.configurations.map(({ hash }) => hash)).toContain(alone?.hash);
  });

  test.each(["generators", "servers"])(
    "more %s than connections are bad usage that names both [R-servers-2] [R-generators-1]",
    async (roles) => {
      await expectFailure(
        () => planned(`--${roles}`, "2 9"),
        EXIT.usage,
        `--${roles} 9`,
        "--concurrency 8",
      );
    },
  );
});

describe("caps", () => {
  const caps = { store: { cpus: 2 }, server: { memory_bytes: 1024 ** 3 }, generator: {} };
  const planned = (flags: readonly string[], context: Partial<PlanContext>) =>
    makePlan(requestOf("--concurrency", "8", ...flags), {
      ...everything,
      ...context,
    }).configurations.map(({ hash, configuration }) => ({ hash, caps: configuration.caps }));

  test("are those that the runtime applies, of the kinds that are started, and part of the hash", () => {
    const [applied] = planned([], { caps });
    expect(applied?.caps).toEqual(caps);
    const [none] = planned([], {});
    expect(none?.caps).toEqual({});
    const [less] = planned([], { caps: { ...caps, store: { cpus: 1 } } });
    expect(new Set([applied, none, less].map((each) => each?.hash)).size).toBe(3);
  });

  test.each<[string, string[], string[]]>([
    ["a target without a store", ["--clients", "none"], ["server", "generator"]],
    ["the limiter layer", ["--layer", "limiter"], ["store", "generator"]],
  ])("of %s", (_what, flags, kinds) => {
    const [configuration] = planned(flags, { caps });
    expect(Object.keys(configuration?.caps ?? {}).sort()).toEqual([...kinds].sort());
  });

  test("are not those of an external store, which is not started", () => {
    const nodes = [{ host: "store.example", port: 6379 }];
    const external = { store: "valkey", version: "8.1.1", topology: "standalone", nodes };
    expect(planned([], { caps, external })[0]?.caps).not.toHaveProperty("store");
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
