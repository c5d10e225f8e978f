import { describe, expect, test } from "vitest";
import type { Plan } from "../../../../src/contract/plan.js";
import { shuffler } from "../../../../src/orchestrator/plan/order.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { everything, requestOf } from "../../../helpers/request.js";

const CLIENTS = ["--clients", "all controls", "--concurrency", "50", "--runs", "20"];
const rounds = (plan: Plan) =>
  Array.from({ length: plan.runs_per_configuration }, (_, index) =>
    plan.runs.filter(({ run }) => run === index + 1).map(({ configuration_hash }) => configuration_hash),
  );
const hashes = (plan: Plan) => plan.configurations.map(({ hash }) => hash);

describe("interleaved", () => {
  const plan = makePlan(requestOf(...CLIENTS), everything);

  test("every round ends before the next starts, and has each configuration once", () => {
    expect(plan.runs.map(({ run }) => run)).toEqual(plan.runs.map(({ run }) => run).sort((a, b) => a - b));
    for (const round of rounds(plan)) expect([...round].sort()).toEqual(hashes(plan).sort());
  });

  test("the order depends only on the seed", () => {
    const again = makePlan(requestOf(...CLIENTS, "--warmup", "1", "--output", "elsewhere"), everything);
    expect(again.runs).toEqual(plan.runs);
    const other = makePlan(requestOf(...CLIENTS, "--seed", "2"), everything);
    expect(rounds(other)).not.toEqual(rounds(plan));
  });

  test("the orders of rounds follow no pattern", () => {
    const firsts = rounds(plan).map(([first]) => hashes(plan).indexOf(first ?? ""));
    const steps = firsts.slice(1).map((first, index) => (first - (firsts[index] ?? 0) + 8) % 8);
    expect(new Set(steps).size).toBeGreaterThan(3);
  });
});

test("consecutive: all runs of a configuration, then the next", () => {
  const plan = makePlan(requestOf(...CLIENTS, "--order", "consecutive", "--runs", "2"), everything);
  expect(plan.runs.map(({ configuration_hash, run }) => [configuration_hash, run])).toEqual(
    hashes(plan).flatMap((hash) => [
      [hash, 1],
      [hash, 2],
    ]),
  );
});

describe("a shuffle", () => {
  const things = ["a", "b", "c", "d"];
  const SEEDS = 24_000;
  const orders = Array.from({ length: SEEDS }, (_, seed) => shuffler(seed)(things).join(""));
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

  test("does not change its input and keeps every item", () => {
    const given = Object.freeze([...things]);
    expect(shuffler(9)(given).sort()).toEqual(things);
  });

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
