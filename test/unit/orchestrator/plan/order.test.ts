import { describe, expect, test } from "vitest";
import { type Plan, planSchema, roundOf } from "../../../../src/contract/plan.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { requestedRuns } from "../../../../src/orchestrator/plan/decision-rounds.js";
import { estimateRange } from "../../../../src/orchestrator/plan/estimate.js";
import { shuffler } from "../../../../src/traffic/shuffle.js";
import { expectFailure } from "../../../helpers/errors.js";
import { planFor } from "../../../helpers/request.js";

/** A ranking of six targets, a target that is alone, and a control. */
const TARGETS = [
  "iovalkey",
  "ioredis@valkey",
  "valkey-glide",
  "node-redis@valkey",
  "iovalkey+autopipelining",
  "ioredis@valkey+autopipelining",
  "ioredis",
  "none",
].join(",");
const planOf = (...flags: string[]) =>
  planFor("--clients", TARGETS, "--concurrency", "50", ...flags);

/** The hashes of each round, in their order. */
const rounds = (plan: Plan): string[][] =>
  Array.from({ length: plan.runs_per_configuration }, (_, index) =>
    plan.runs.filter((run) => roundOf(run) === index + 1).map((run) => run.configuration_hash),
  );

describe("interleaved", () => {
  const INTERLEAVED = ["--runs", "20", "--order", "interleaved"];
  const plan = planOf(...INTERLEAVED);

  test("every round has a run of each configuration, in another order, before the next starts", () => {
    expect(plan.runs.map(roundOf)).toEqual(plan.runs.map(roundOf).toSorted((a, b) => a - b));
    const hashes = plan.configurations.map(({ hash }) => hash).toSorted();
    for (const round of rounds(plan)) expect(round.toSorted()).toEqual(hashes);
    expect(new Set(rounds(plan).map(String)).size).toBe(20);
  });

  test("the order depends only on the seed", () => {
    expect(planOf(...INTERLEAVED, "--warmup", "1", "--output", "elsewhere").runs).toEqual(
      plan.runs,
    );
    expect(rounds(planOf(...INTERLEAVED, "--seed", "2"))).not.toEqual(rounds(plan));
  });
});

test("consecutive: all runs of a configuration, then the next", () => {
  const plan = planOf("--order", "consecutive", "--runs", "2");
  expect(plan.runs.map(({ configuration_hash, run }) => [configuration_hash, run])).toEqual(
    plan.configurations.flatMap(({ hash }) => [
      [hash, 1],
      [hash, 2],
    ]),
  );
});

describe("a shuffle", () => {
  const things = ["a", "b", "c", "d"];
  const SEEDS = 24_000;
  const orders = Array.from({ length: SEEDS }, (_, seed) =>
    shuffler(seed).shuffle(things).join(""),
  );
  /** Pearson's statistic of counts that should be equal. */
  const chiSquare = (counts: readonly number[], total: number) => {
    const expected = total / counts.length;
    return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  };
  const tally = (words: readonly string[], cells: number) => {
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return [...counts.values(), ...Array.from({ length: cells - counts.size }, () => 0)];
  };

  test("gives each order equally often", () => {
    // 24 orders: 23 degrees of freedom; 49.7 is exceeded once in a thousand.
    expect(chiSquare(tally(orders, 24), SEEDS)).toBeLessThan(49.7);
  });

  test("does not predict the next seed's order: first items of adjacent seeds are independent", () => {
    const pairs = orders.slice(1).map((order, index) => `${orders[index]?.[0]}${order[0]}`);
    // 16 pairs: 15 degrees of freedom; 37.7 is exceeded once in a thousand.
    expect(chiSquare(tally(pairs, 16), SEEDS - 1)).toBeLessThan(37.7);
  });
});

const plannedWith = (...flags: string[]): Plan =>
  planFor("--clients", "iovalkey,ioredis", "--concurrency", "50", ...flags);

const diagnosing = ({ runs }: Plan) => runs.filter(({ diagnose }) => diagnose);

test("one run of each configuration comes after all that count, with a number and a file of its own", () => {
  const plan = plannedWith("--runs", "2", "--diagnose");
  const found = diagnosing(plan);
  expect(plan.runs.slice(-2)).toEqual(found);
  expect(new Set(found.map(({ configuration_hash }) => configuration_hash)).size).toBe(2);
  for (const { configuration_hash, run, file } of found) {
    const others = plan.runs.filter(
      (other) => other.configuration_hash === configuration_hash && !other.diagnose,
    );
    expect(others.length).toBeGreaterThan(0);
    expect(run).toBe(Math.max(...others.map((other) => other.run)) + 1);
    expect(file).toMatch(/_diagnose\.json$/);
  }
  expect(new Set(plan.runs.map(({ file }) => file)).size).toBe(plan.runs.length);
  expect(planSchema.parse(plan)).toEqual(plan);
});

test("alone means no others, whatever the number of runs", () => {
  for (const runs of ["3", "auto"]) {
    const plan = plannedWith("--runs", runs, "--diagnose", "alone");
    expect(plan.runs).toEqual(diagnosing(plan));
    expect(plan.runs.map(({ run }) => run)).toEqual([1, 1]);
    expect(plan).toMatchObject({ runs_per_configuration: 1 });
    expect(plan).not.toHaveProperty("adaptive");
  }
});

test("the store layer has none beside others", () => {
  const plan = plannedWith("--layer", "server,store", "--diagnose");
  const layers = new Map(
    plan.configurations.map(({ hash, configuration }) => [hash, configuration.layer]),
  );
  const found = diagnosing(plan).map(({ configuration_hash }) => layers.get(configuration_hash));
  expect(found).toEqual(["server", "server"]);
});

describe("an adaptive campaign", () => {
  const plan = plannedWith("--runs", "auto", "--diagnose");

  test("asks for its diagnosing runs whatever it decides", () => {
    const rounds = Object.fromEntries(plan.configurations.map(({ hash }) => [hash, 5]));
    const asked = requestedRuns({ plan, adaptive: { rounds, looked: 5, spent_s: 0 } });
    expect(asked.filter(({ diagnose }) => diagnose)).toEqual(diagnosing(plan));
  });

  test("counts them in what it needs at least", () => {
    const overheads = { standalone: 2 };
    const others = plannedWith("--runs", "auto", "--order", "interleaved");
    const without = estimateRange(others, overheads).at_least?.runs ?? 0;
    expect(estimateRange(plan, overheads).at_least?.runs).toBe(without + 2);
  });
});

test.each<[string[], ...string[]]>([
  [["--diagnose", "sometimes"], "--diagnose", "alone"],
  [["--diagnose", "--find-max-rate", "--slo", "p99<10ms"], "--find-max-rate"],
])("%j is bad usage", async (flags, ...parts) => {
  await expectFailure(() => plannedWith(...flags), EXIT.usage, ...parts);
});
