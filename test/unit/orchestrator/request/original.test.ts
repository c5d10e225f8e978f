import { describe, expect, test } from "vitest";
import type { Plan } from "../../../../src/contract/plan.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import {
  parseRunAll,
  parseSingle,
  singleCommand,
} from "../../../../src/orchestrator/request/original.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything } from "../../../helpers/request.js";

const singleOf = (argv: readonly string[], env = {}) =>
  parseSingle(env, argv, singleCommand().parse(argv, { from: "user" }));
const single = (line: string, env = {}) => singleOf(line.split(" ").filter(Boolean), env);

describe("run-all.sh", () => {
  test("fills in the rest of the original's flags, says so, and shows the plan first", () => {
    const request = parseRunAll(["--workload", "light", "--runtime", "local"], {});
    expect(request).toMatchObject({
      targets: { clients: ["all"] },
      entries: { workloads: ["light"] },
      load: { connections: [50, 100, 500, 1000], duration: { mode: "dynamic" } },
      start: { planFirst: true },
    });
    expect(request?.notices[0]).toContain('--clients "all"');
    expect(request?.record.command).toContain("--clients all --concurrency '50 100 500 1000'");
  });

  test.each(["--runs 5", "--quick", "--rate 100", "--layer limiter"])(
    "fills in nothing beside %s",
    (flags) => {
      const request = parseRunAll(["--clients", "iovalkey", ...flags.split(" ")], {});
      expect(request).toMatchObject({ entries: { workloads: ["light"] } });
      expect(request?.start.planFirst).toBeUndefined();
    },
  );

  test.each([[], ["--runs", "5"], ["--dry-run"]])(
    "without a flag of the original, targets are asked for: %j",
    async (...argv) => {
      await expectFailure(() => parseRunAll(argv, {}), EXIT.usage, "--clients is missing");
    },
  );
});

describe("run-benchmark.sh", () => {
  test("takes flags beside variables; a flag wins", () => {
    const env = { DURATION: "60", RATE_LIMITER_TYPE: "ioredis", CONNECTIONS: "12", RUNS: "2" };
    const request = single("--time 7 --requests light", env);
    expect(request).toMatchObject({
      targets: { clients: ["ioredis"] },
      load: { duration: { mode: "fixed", seconds: 7 }, connections: [12] },
      entries: { workloads: ["light"] },
      rounds: { runs: 2 },
      start: { planFirst: true },
    });
    expect(request.notices.join()).toContain("DURATION");
    expect(request.record.command).toBe(
      "RATE_LIMITER_TYPE=ioredis DURATION=60 CONNECTIONS=12 RUNS=2 ./scripts/run-benchmark.sh --time 7 --requests light",
    );
  });

  test("a flag that changes nothing in the plan leaves a run by variables as it is", () => {
    const request = single("--runtime local --runs 2 --output x", { DURATION: "4" });
    expect(request).toMatchObject({
      targets: { clients: ["valkey-glide"] },
      load: { connections: [10], duration: { seconds: 4 } },
      rounds: { runs: 2 },
      output: { folder: "x" },
    });
    expect(request.notices).toEqual([]);
    expect(request.start.planFirst).toBeUndefined();
  });

  test("SKIP_LONG_TESTS and DEBUG_MODE", () => {
    expect(single("--clusters", { SKIP_LONG_TESTS: "true", DEBUG_MODE: "true" })).toMatchObject({
      load: { duration: { mode: "fixed", seconds: 30 } },
      rounds: { runs: 1 },
      output: { mode: { detail: "verbose" } },
    });
  });

  test.each<[string, Record<string, string>, ...string[]]>([
    ["--clusters --standalone", {}, "--clusters", "--standalone"],
    ["--time 0", {}, "--time", "from 1 to"],
    ["--concurrency abc --quick", {}, "--concurrency"],
    ["--requests medium", {}, "medium"],
    ["--defaults", { SKIP_CONTAINER_SETUP: "true" }, "STORE_URL"],
    ["", { SKIP_LONG_TESTS: "maybe" }, "SKIP_LONG_TESTS"],
  ])("refuses %s %j", async (line, env, ...parts) => {
    await expectFailure(() => single(line, env), EXIT.usage, ...parts);
  });
});

const target = (env: Record<string, string>) =>
  makePlan(parseSingle(env), everything).configurations.map(
    ({ configuration }) => configuration.target.text,
  );

test("the defaults are those of the original", () => {
  expect(parseSingle({})).toMatchObject({
    targets: { clients: ["valkey-glide"] },
    entries: { workloads: ["light"] },
    load: { duration: { mode: "fixed", seconds: 30 }, connections: [10], traffic: ["realistic"] },
    rounds: { runs: 1 },
    place: { runtime: "auto" },
  });
  expect(makePlan(parseSingle({}), everything).runs.map(({ file }) => file)).toEqual([
    "valkey-glide_light_10c_30s_run1.json",
  ]);
});

test("every variable is read", () => {
  const env = {
    DURATION: "60",
    CONNECTIONS: "50",
    REQUEST_TYPE: "heavy",
    SERVERS: "3",
    LAYER: "server",
    COMPUTATION_COMPLEXITY: "3",
    RUNS: "2",
    WARMUP: "0.5",
    COOLDOWN: "1",
    TRAFFIC: "fixed",
    RUNTIME: "local",
    SEED: "9",
    WORKERS: "2",
    OUTPUT_DIR: "a b",
    OUTPUT_FILE: "x y.json",
    RATE_LIMIT_POINTS: "5",
  };
  expect(parseSingle(env)).toMatchObject({
    load: { duration: { mode: "fixed", seconds: 60 }, connections: [50], traffic: ["fixed"] },
    entries: { workloads: ["heavy"], counts: { servers: [3] }, layers: ["server"], complexity: 3 },
    rounds: { runs: 2, seed: 9 },
    pauses: { warmupS: 0.5, cooldownS: 1 },
    place: { runtime: "local", workers: 2 },
    output: { folder: "a b", file: "x y.json" },
    limits: { points: [5] },
  });
});

test("the command that repeats it names every variable that was set", () => {
  const env = { DURATION: "5", OUTPUT_FILE: "a b.json", RATE_LIMIT_POINTS: "7", UNRELATED: "x" };
  expect(parseSingle(env).record.command).toBe(
    "DURATION=5 OUTPUT_FILE='a b.json' RATE_LIMIT_POINTS=7 ./scripts/run-benchmark.sh",
  );
});

describe("the target that the variables name together", () => {
  test.each([
    [{ RATE_LIMITER_TYPE: "iovalkey:cluster" }, "iovalkey@valkey:cluster"],
    [{ RATE_LIMITER_TYPE: "iovalkey", USE_VALKEY_CLUSTER: "true" }, "iovalkey@valkey:cluster"],
    [{ RATE_LIMITER_TYPE: "iovalkey", USE_VALKEY_CLUSTER: "false" }, "iovalkey@valkey:standalone"],
    [{ RATE_LIMITER_TYPE: "ioredis", USE_REDIS_CLUSTER: "1" }, "ioredis@redis:cluster"],
    [{ RATE_LIMITER_TYPE: "ioredis", USE_VALKEY_CLUSTER: "1" }, "ioredis@valkey:cluster"],
    [{ RATE_LIMITER_TYPE: "ioredis", STORE: "valkey" }, "ioredis@valkey:standalone"],
    [{ RATE_LIMITER_TYPE: "memory" }, "memory"],
  ])("%j is %s", (env, text) => {
    expect(target(env)).toEqual([text]);
  });

  test.each<[Record<string, string>, ...string[]]>([
    [{ RATE_LIMITER_TYPE: "ioredis@redis", STORE: "valkey" }, "redis and valkey"],
    [{ USE_VALKEY_CLUSTER: "1", USE_REDIS_CLUSTER: "1" }, "valkey and redis"],
    [{ RATE_LIMITER_TYPE: "iovalkey:standalone", USE_VALKEY_CLUSTER: "1" }, "not a cluster"],
    [{ RATE_LIMITER_TYPE: "memory", USE_VALKEY_CLUSTER: "1" }, "valkey"],
    [{ RATE_LIMITER_TYPE: "iovalkey", USE_REDIS_CLUSTER: "1" }, "redis"],
  ])("%j contradicts itself", async (env, ...parts) => {
    await expectFailure(() => target(env), EXIT.usage, ...parts);
  });
});

test.each<[Record<string, string>, ...string[]]>([
  [{ DURATION: "0" }, "DURATION=", "from 1 to 86400"],
  [{ WARMUP: "-1" }, "WARMUP=", "from 0 to 3600, or auto"],
  [{ SEED: "1e3" }, "SEED="],
  [{ REQUEST_TYPE: "light2" }, "light2", "light, heavy"],
  [{ TRAFFIC: "x;rm" }, "TRAFFIC="],
  [{ STORE: "mars" }, "valkey, redis"],
  [{ SERVERS: "17" }, "SERVERS=", "from 1 to 16"],
  [{ LAYER: "store" }, "LAYER=", "server or limiter"],
  [{ USE_REDIS_CLUSTER: "yes" }, "USE_REDIS_CLUSTER=", "true or false"],
  [{ RATE_LIMIT_POINTS: "0" }, "RATE_LIMIT_POINTS", "from 1 to"],
  [{ RATE_LIMITER_TYPE: "valkey-glid" }, "valkey-glide?"],
])("refused as bad usage, naming the variable [R-range-1]: %j", async (env, ...parts) => {
  await expectFailure(() => target(env), EXIT.usage, ...parts);
});

/** The distinct values of a plan, as `targets | workloads | connections | seconds | runs`. */
function summaryOf({ configurations, runs_per_configuration }: Plan): string {
  const distinct = (values: unknown[]) => [...new Set(values)].join(" ");
  const all = configurations.map(({ configuration }) => configuration);
  return [
    distinct(all.map(({ target }) => target.label)),
    distinct(all.map(({ workload }) => workload.id)),
    distinct(all.map(({ load }) => load.connections)),
    distinct(all.map(({ extent }) => ("duration_s" in extent ? extent.duration_s : extent))),
    runs_per_configuration,
  ].join(" | ");
}

const STANDALONE = "valkey-glide iovalkey ioredis";
const CLUSTER = "valkey-glide:cluster iovalkey:cluster ioredis:cluster";
const LOADS = "50 100 500 1000";
const HEAVY = "light heavy";

/**
 * The command lines in the README and in the help of the original, word by word, then each of its
 * flags that none of them has, and what each plans.
 */
const LINES = `
./scripts/run-all.sh --clients valkey-glide --workload light --duration-mode dynamic --concurrency "50 100"
  valkey-glide | light | 50 100 | 120 | 3
./scripts/run-all.sh --clients standalone --workload both --duration-mode fixed30 --concurrency "50 100"
  ${STANDALONE} | ${HEAVY} | 50 100 | 30 | 3
./scripts/run-all.sh --clients cluster --workload heavy --duration-mode custom:90 --concurrency "100 500"
  ${CLUSTER} | heavy | 100 500 | 90 | 3
./scripts/run-all.sh --clients "valkey-glide,iovalkey:cluster" --workload light --duration-mode dynamic --concurrency "50 200 500"
  valkey-glide iovalkey:cluster | light | 50 200 500 | 120 150 180 210 | 3
./scripts/run-all.sh --clients valkey-glide,ioredis --workload light --concurrency "50 100"
  valkey-glide ioredis | light | 50 100 | 120 | 3
./scripts/run-all.sh --clients cluster --duration-mode fixed30
  ${CLUSTER} | ${HEAVY} | ${LOADS} | 30 | 3
./scripts/run-all.sh --clients all --workload both --duration-mode dynamic
  ${STANDALONE} ${CLUSTER} | ${HEAVY} | ${LOADS} | 120 150 180 210 | 3
./scripts/run-all.sh --duration-mode fixed120
  ${STANDALONE} ${CLUSTER} | ${HEAVY} | ${LOADS} | 120 | 3
./scripts/run-benchmark.sh --defaults
  ${STANDALONE} ${CLUSTER} | ${HEAVY} | ${LOADS} | 30 | 3
./scripts/run-benchmark.sh --default
  ${STANDALONE} ${CLUSTER} | ${HEAVY} | ${LOADS} | 30 | 3
./scripts/run-benchmark.sh --clusters
  ${CLUSTER} | ${HEAVY} | ${LOADS} | 150 | 3
./scripts/run-benchmark.sh --cluster-only
  ${CLUSTER} | ${HEAVY} | ${LOADS} | 150 | 3
./scripts/run-benchmark.sh --standalone
  ${STANDALONE} | ${HEAVY} | 50 100 500 | 120 | 3
./scripts/run-benchmark.sh --standalone-only
  ${STANDALONE} | ${HEAVY} | 50 100 500 | 120 | 3
./scripts/run-benchmark.sh --quick
  valkey-glide iovalkey | light | 50 100 | 30 | 3
./scripts/run-benchmark.sh --quick-mode
  valkey-glide iovalkey | light | 50 100 | 30 | 3
./scripts/run-benchmark.sh --time 60 --concurrency "50 100" --requests "light" --limiters "valkey-glide ioredis"
  valkey-glide ioredis | light | 50 100 | 60 | 3
./scripts/run-benchmark.sh --duration 120 --limiters "valkey-glide:cluster iovalkey:cluster"
  valkey-glide:cluster iovalkey:cluster | ${HEAVY} | ${LOADS} | 120 | 3
./scripts/run-benchmark.sh --quick --limiters "valkey-glide"
  valkey-glide | light | 50 100 | 30 | 3
./scripts/run-benchmark.sh --request-types "heavy" --rate-limiters "ioredis" --time 9
  ioredis | heavy | ${LOADS} | 9 | 3
DURATION=60 CONNECTIONS=50 REQUEST_TYPE=light RATE_LIMITER_TYPE=valkey-glide ./scripts/run-benchmark.sh
  valkey-glide | light | 50 | 60 | 1
SKIP_LONG_TESTS=true DEBUG_MODE=true COMPUTATION_COMPLEXITY=5 ./scripts/run-benchmark.sh --standalone
  ${STANDALONE} | ${HEAVY} | 50 100 500 | 30 | 1
`;

test.each(LINES.trim().split(/\n(?! )/))("%s", (text) => {
  const [line = "", plan] = text.split("\n  ");
  const words = (line.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((word) => word.replaceAll('"', ""));
  const at = words.findIndex((word) => word.startsWith("./scripts/"));
  const env = Object.fromEntries(words.slice(0, at).map((word) => word.split("=")));
  const argv = [...words.slice(at + 1), "--runtime", "local"];
  const request =
    words[at] === "./scripts/run-all.sh" ? parseRunAll(argv, env) : singleOf(argv, env);
  if (!request) throw new Error("no request");
  expect(summaryOf(makePlan(request, everything))).toBe(plan);
});
