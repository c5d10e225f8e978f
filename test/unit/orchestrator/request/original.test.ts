import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { parseRunAll } from "../../../../src/orchestrator/request/original.js";
import { parseSingle, singleCommand } from "../../../../src/orchestrator/request/single-run.js";
import { expectFailure } from "../../../helpers/errors.js";

const single = (line: string, env = {}) => {
  const argv = line.split(" ").filter(Boolean);
  return parseSingle(env, argv, singleCommand().parse(argv, { from: "user" }));
};

describe("run-all.sh", () => {
  test("fills in the rest of the original's flags, says so, and shows the plan first", () => {
    const request = parseRunAll(["--workload", "light", "--runtime", "local"], {});
    expect(request).toMatchObject({
      clients: ["all"],
      workloads: ["light"],
      connections: [50, 100, 500, 1000],
      duration: { mode: "dynamic" },
      planFirst: true,
    });
    expect(request?.notices[0]).toContain('--clients "all"');
    expect(request?.command).toContain("--clients all --concurrency '50 100 500 1000'");
  });

  test.each(["--runs 5", "--quick", "--rate 100", "--layer limiter"])(
    "fills in nothing beside %s",
    (flags) => {
      const request = parseRunAll(["--clients", "iovalkey", ...flags.split(" ")], {});
      expect(request).toMatchObject({ workloads: ["light"] });
      expect(request?.planFirst).toBeUndefined();
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
    const request = single("--time 7 --requests light", {
      DURATION: "60",
      RATE_LIMITER_TYPE: "ioredis",
      CONNECTIONS: "12",
      RUNS: "2",
    });
    expect(request).toMatchObject({
      clients: ["ioredis"],
      duration: { mode: "fixed", seconds: 7 },
      workloads: ["light"],
      connections: [12],
      runs: 2,
      planFirst: true,
      addsReference: false,
    });
    expect(request.notices.join()).toContain("DURATION");
    expect(request.command).toBe(
      "RATE_LIMITER_TYPE=ioredis DURATION=60 CONNECTIONS=12 RUNS=2 ./scripts/run-benchmark.sh --time 7 --requests light",
    );
  });

  test("a flag that changes nothing in the plan leaves a run by variables as it is", () => {
    const request = single("--runtime local --runs 2 --output x", { DURATION: "4" });
    expect(request).toMatchObject({
      clients: ["valkey-glide"],
      connections: [10],
      runs: 2,
      output: "x",
      duration: { seconds: 4 },
    });
    expect(request.notices).toEqual([]);
    expect(request.planFirst).toBeUndefined();
  });

  test("SKIP_LONG_TESTS and DEBUG_MODE", () => {
    expect(single("--clusters", { SKIP_LONG_TESTS: "true", DEBUG_MODE: "true" })).toMatchObject({
      duration: { mode: "fixed", seconds: 30 },
      runs: 1,
      outputMode: { detail: "verbose" },
    });
  });

  test.each<[string, Record<string, string>, ...string[]]>([
    ["--clusters --standalone", {}, "--clusters", "--standalone"],
    ["--time 0", {}, "--time", "from 1 to"],
    ["--time abc", {}, "--time"],
    ["--concurrency abc --quick", {}, "--concurrency"],
    ["--requests medium", {}, "medium"],
    ["--defaults", { SKIP_CONTAINER_SETUP: "true" }, "STORE_URL"],
    ["", { SKIP_LONG_TESTS: "maybe" }, "SKIP_LONG_TESTS"],
  ])("refuses %s %j", async (line, env, ...parts) => {
    await expectFailure(() => single(line, env), EXIT.usage, ...parts);
  });
});
