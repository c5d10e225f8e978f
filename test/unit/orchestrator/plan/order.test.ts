import { describe, expect, test } from "vitest";
import { type Plan, roundOf } from "../../../../src/contract/plan.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { shuffler } from "../../../../src/traffic/shuffle.js";
import { everything, requestOf } from "../../../helpers/request.js";

/** A ranking of six targets, a target that is alone, and a control. */
const TARGETS = [
  ...["iovalkey", "ioredis@valkey", "valkey-glide", "node-redis@valkey", "iovalkey+autopipelining"],
  ...["ioredis@valkey+autopipelining", "ioredis", "none"],
].join(",");
const planOf = (...flags: string[]) =>
  makePlan(requestOf("--clients", TARGETS, "--concurrency", "50", ...flags), everything);

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
    expect(planOf(...INTERLEAVED, "--warmup", "1", "--output", "elsewhere").runs).toEqual(plan.runs);
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
  const orders = Array.from({ length: SEEDS }, (_, seed) => shuffler(seed).shuffle(things).join(""));
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
