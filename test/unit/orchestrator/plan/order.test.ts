import { describe, expect, test } from "vitest";
import { isBurnIn, type Plan, roundOf } from "../../../../src/contract/plan.js";
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
const CLIENTS = ["--runs", "20"];

const labelsOf = (plan: Plan) => {
  const labels = new Map(
    plan.configurations.map(({ hash, configuration }) => [hash, configuration.target.label]),
  );
  return (run: Plan["runs"][number]) => labels.get(run.configuration_hash) ?? "";
};
/** The labels of each block of each round that counts, in their order. */
function blocksOf(plan: Plan): string[][][] {
  const labelOf = labelsOf(plan);
  return Array.from({ length: plan.runs_per_configuration }, (_, index) => {
    const runs = plan.runs.filter((run) => roundOf(run) === index + 1);
    const numbers = [...new Set(runs.map(({ block }) => block))];
    return numbers.map((number) => runs.filter(({ block }) => block === number).map(labelOf));
  });
}
const rounds = (plan: Plan) => blocksOf(plan).map((blocks) => blocks.flat());
const sorted = (labels: readonly string[]) => [...labels].sort();

describe("interleaved", () => {
  const plan = planOf(...CLIENTS);

  test("every round ends before the next starts, and a block before the next block", () => {
    const places = plan.runs.map((run) => 100 * roundOf(run) + (run.block ?? 0));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  test("a block has at most five targets of one ranking, and its reference once", () => {
    const compared = plan.configurations
      .map(({ configuration: { target } }) => target.label)
      .filter((label) => label !== "none" && label !== "ioredis");
    expect(compared).toContain("iovalkey+copy");
    for (const blocks of blocksOf(plan)) {
      const alone = blocks.filter((block) => block.length === 1).flat();
      expect(sorted(alone)).toEqual(["ioredis", "none"]);
      const shared = blocks.filter((block) => block.length > 1);
      expect(shared.map(({ length }) => length)).toEqual([4, 4]);
      for (const block of shared) expect(block.filter((label) => label === "iovalkey")).toHaveLength(1);
      // Every other target has one run in a round.
      expect(sorted(shared.flat().filter((label) => label !== "iovalkey"))).toEqual(
        sorted(compared.filter((label) => label !== "iovalkey")),
      );
    }
  });

  test("order of blocks, mates, and place in the block change from round to round", () => {
    const all = blocksOf(plan);
    const places = all.flatMap((blocks) =>
      blocks.filter(({ length }) => length > 1).map((block) => block.indexOf("iovalkey")),
    );
    expect(new Set(places)).toEqual(new Set([0, 1, 2, 3]));
    const firsts = all.map(([first = []]) => (first.length > 1 ? "ranking" : first[0]));
    expect(new Set(firsts).size).toBe(3);
    const matesOfGlide = all.map((blocks) =>
      sorted(blocks.find((block) => block.includes("valkey-glide")) ?? []).join(),
    );
    expect(new Set(matesOfGlide).size).toBeGreaterThan(3);
  });

  test("the order depends only on the seed", () => {
    expect(planOf(...CLIENTS, "--warmup", "1", "--output", "elsewhere").runs).toEqual(plan.runs);
    expect(rounds(planOf(...CLIENTS, "--seed", "2"))).not.toEqual(rounds(plan));
  });
});

describe("the burn-in round", () => {
  test("comes first, has each configuration once, and does not shift the numbers of the others", () => {
    const plan = planOf("--runs", "5");
    const burnIn = plan.runs.slice(0, plan.configurations.length);
    expect(burnIn.every(isBurnIn)).toBe(true);
    expect(plan.runs.filter(isBurnIn)).toHaveLength(burnIn.length);
    expect(new Set(burnIn.map(({ configuration_hash }) => configuration_hash)).size).toBe(burnIn.length);
    for (const { run, file } of burnIn)
      expect({ run, file }).toEqual({ run: 0, file: expect.stringMatching(/_run0\.json$/) });
  });

  test("is left out where nothing can be shown, and in consecutive order", () => {
    expect(planOf("--runs", "4").runs.filter(isBurnIn)).toEqual([]);
    expect(planOf("--runs", "5", "--order", "consecutive").runs.filter(isBurnIn)).toEqual([]);
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
