import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadText } from "../../../../src/contract/configuration.js";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  decisionRounds,
  firstRoundByTurns,
} from "../../../../src/orchestrator/plan/decision-rounds.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { parseSingle } from "../../../../src/orchestrator/request/original.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { everything, planFor, requestOf } from "../../../helpers/request.js";

const loads = (...flags: string[]) =>
  planFor(...flags).configurations.map(({ configuration }) => loadText(configuration));

describe("--rate", () => {
  test("plans an open loop at each rate, over up to 200 connections", () => {
    expect(loads("--rate", "5000,0.5")).toEqual([
      "5,000/s constant, up to 200 connections",
      "0.5/s constant, up to 200 connections",
    ]);
  });

  test("keeps connections that were given, but not those of a preset", () => {
    expect(loads("--rate", "50", "--concurrency", "7")).toEqual([
      "50/s constant, up to 7 connections",
    ]);
    expect(
      loads("--quick", "--clients", "iovalkey", "--rate", "50", "--arrivals", "poisson"),
    ).toEqual(["50/s poisson, up to 200 connections"]);
  });
});

test("--rate-sweep has both ends and a constant factor between rates", () => {
  expect(requestOf("--rate-sweep", "1000:20000:8").load.rates).toEqual([
    1000, 1530, 2350, 3610, 5540, 8500, 13000, 20000,
  ]);
  expect(requestOf("--rate-sweep", "10:1000:3").load.rates).toEqual([10, 100, 1000]);
});

test.each<[string[], ...string[]]>([
  [["--rate", "0"], "--rate", "from 0.1 to 1000000 requests a second"],
  [["--rate", "NaN"], "--rate", "from 0.1"],
  [["--rate", "-5"], "--rate"],
  [["--rate", "1e3"], "--rate"],
  [["--rate", ","], "--rate", "at least one"],
  [["--rate-sweep", "1000:20000"], "--rate-sweep", "from:to:steps"],
  [["--rate-sweep", "1000:20000:1"], "--rate-sweep", "from 2 to 100"],
  [["--rate-sweep", "2000:1000:3"], "--rate-sweep", "above the first"],
  [["--rate", "5", "--rate-sweep", "1:2:3"], "--rate-sweep", "give one"],
  [["--rate", "5", "--arrivals", "bursty"], "--arrivals", "constant, poisson"],
  [["--arrivals", "poisson"], "--arrivals", "--rate"],
])("bad usage in one line that names the range [R-range-2]: %j", async (flags, ...parts) => {
  await expectFailure(
    () => parseCampaign(["--clients", "iovalkey", ...flags], {}),
    EXIT.usage,
    ...parts,
  );
});

describe("RATE of a single run", () => {
  test("opens the loop", () => {
    const request = parseSingle({ RATE: "5000", ARRIVALS: "poisson" });
    expect(request).toMatchObject({
      load: { rates: [5000], arrivals: "poisson", connections: [200] },
    });
    expect(parseSingle({ RATE: "50", CONNECTIONS: "4" })).toMatchObject({
      load: { rates: [50], connections: [4] },
    });
    expect(parseSingle({})).toMatchObject({ load: { rates: [], connections: [10] } });
  });

  test.each([
    [{ RATE: "0" }],
    [{ RATE: "many" }],
    [{ ARRIVALS: "poisson" }],
    [{ RATE: "1", ARRIVALS: "x" }],
  ])("%j is bad usage", async (env) => {
    await expectFailure(() => parseSingle(env), EXIT.usage, Object.keys(env).at(-1) ?? "");
  });
});

describe("--find-max-rate", () => {
  const slo = ["--find-max-rate", "--slo", "p99<10ms"];

  test("starts at 1000/s, or at --rate, and a manifest repeats it", () => {
    const request = requestOf(...slo, "--budget", "20m");
    expect(request).toMatchObject({
      load: { rates: [1000], connections: [200], searchBudgetS: 1200 },
    });
    expect(request.record.settings).toMatchObject({
      "find-max-rate": "true",
      slo: "p99<10ms",
      budget: "20m",
    });
    expect(requestOf(...slo, "--rate", "50").load.rates).toEqual([50]);
  });

  test.each([
    [["--find-max-rate"], "--slo"],
    [["--slo", "p99<10ms"], "--find-max-rate"],
    [["--find-max-rate", "--slo", "speed>1"], "--slo"],
    [[...slo, "--rate", "1,2"], "one --rate"],
    [[...slo, "--threshold", "p99<5ms"], "leave one of them out"],
    [[...slo, "--order", "consecutive"], "interleaves"],
    [[...slo, "--runs", "auto"], "an open loop fixes"],
    [[...slo, "--budget", "20"], "with its unit"],
  ])("%j is refused", async (flags, part) => {
    await expectFailure(() => requestOf(...flags), EXIT.usage, part);
  });
});

const newFolder = temporaryFolders();

function log(): string {
  const path = join(newFolder(), "log.csv");
  writeFileSync(path, "10,a\n10.5,b\n11,a\n");
  return path;
}

test("a trace is the traffic, in closed loops and at its times", () => {
  const path = log();
  expect(requestOf("--trace", path)).toMatchObject({
    load: { traffic: ["trace"], rates: [], trace: { summary: { lines: 3, keys: 2 } } },
    record: { settings: { trace: path, traffic: "trace" } },
  });
  expect(requestOf("--trace", path, "--trace-speed", "1,10")).toMatchObject({
    load: { rates: [2, 20], arrivals: "trace" },
  });
  expect(requestOf("--trace", path, "--rate", "50")).toMatchObject({
    load: { rates: [50], arrivals: "constant" },
  });
});

test("what contradicts it is refused with the flag", async () => {
  const path = log();
  for (const [flags, ...parts] of [
    [["--trace", "/no/such.log"], "--trace"],
    [["--trace-speed", "1"], "--trace"],
    [["--trace", path, "--traffic", "fixed"], "--trace", "--traffic"],
    [["--trace", path, "--trace-speed", "1", "--rate", "5"], "--trace-speed", "--rate"],
    [["--trace", path, "--trace-speed", "0"], "--trace-speed"],
    [["--trace", path, "--trace-speed", "0.001"], "--trace-speed"],
    [["--arrivals", "trace", "--rate", "5"], "--arrivals"],
  ] as const)
    await expectFailure(() => requestOf(...flags), EXIT.usage, ...parts);
});

const none = ["--clients", "none"];

test.each([
  [5, [5]],
  [6, [5, 6]],
  [8, [5, 8]],
  [20, [5, 7, 10, 14, 20]],
  [30, [5, 7, 10, 14, 20, 30]],
])("at most %d runs are looked at after %j", (most, looks) => {
  expect(decisionRounds(most)).toEqual(looks);
});

test.each([
  [1, 8],
  [2, 9],
  [3, 10],
  [4, 10],
])(
  "by turns %d comparisons can be decided at the first look's share after %d rounds, and no sooner",
  (comparisons, round) => {
    const clearest = (rounds: number) => comparisons * 2 ** (1 - rounds);
    expect(firstRoundByTurns(comparisons)).toBe(round);
    expect(clearest(round)).toBeLessThanOrEqual(0.008);
    expect(clearest(round - 1)).toBeGreaterThan(0.008);
  },
);

test("by turns the looks begin where the family can be decided; few rounds have one look", () => {
  const clients = ["--clients", "ioredis@valkey,iovalkey,valkey-glide"];
  const plan = (...flags: string[]) =>
    planFor(...clients, "--runs", "auto", "--order", "turns", ...flags);
  expect(plan()).toMatchObject({ order: "turns", adaptive: { looks: [9, 13, 20] } });
  expect(plan("--max-runs", "7").adaptive).toEqual({ looks: [7] });
});

test("--runs auto plans 20 runs at most, --max-runs and --budget others, and a manifest repeats them", () => {
  const request = requestOf(...none, "--runs", "auto");
  expect(request).toMatchObject({
    rounds: { runs: 20, adaptive: {} },
    record: { settings: { runs: "auto" } },
  });
  expect(makePlan(request, everything).adaptive).toEqual({ looks: [5, 7, 10, 14, 20] });
  const asked = requestOf(...none, "--runs", "auto", "--max-runs", "7", "--budget", "1.5h");
  expect(asked.record.settings).toMatchObject({ runs: "auto", "max-runs": "7", budget: "1.5h" });
  expect(makePlan(asked, everything).adaptive).toEqual({ looks: [5, 7], budget_s: 5400 });
  const clients = ["--clients", "iovalkey,ioredis@valkey", "--concurrency", "50"];
  const gate = requestOf(...clients, "--runs", "auto", "--tolerate", "10%");
  // By turns the first look is where throughput and CPU together can be decided.
  expect(makePlan(gate, everything).adaptive).toEqual({ looks: [9, 13, 20], tolerate_percent: 10 });
  expect(planFor(...none)).not.toHaveProperty("adaptive");
});

test.each([
  [["--runs", "3", "--max-runs", "8"], "--max-runs 8 needs --runs auto"],
  [
    ["--preset", "standard", "--budget", "20m"],
    "--budget 20m needs --runs auto or --find-max-rate",
  ],
  [["--runs", "auto", "--order", "consecutive"], "--order consecutive"],
  [["--runs", "auto", "--max-runs", "4"], "from 5 to 1000"],
  [["--runs", "8", "--tolerate", "10%"], "--tolerate 10% needs --runs auto"],
  [["--runs", "auto", "--tolerate", "2%"], "more than the margin"],
  [["--runs", "auto", "--tolerate", "none"], "--tolerate"],
  [["--runs", "auto", "--budget", "20"], "with its unit"],
  [["--runs", "auto", "--budget", "0s"], "with its unit"],
  [["--runs", "auto", "--rate", "100"], "an open loop fixes"],
  [["--runs", "automatic"], "or auto"],
  [["--runs", "0"], "or auto"],
])("refused in one line: %j", async (flags, text) => {
  await expectFailure(() => requestOf(...none, ...flags), EXIT.usage, text);
});
