import { describe, expect, test } from "vitest";
import { type LatencyHistograms, movableFigures } from "../../../src/contract/latency-figures.js";
import {
  atLeast,
  CURVE_THOUSANDTHS,
  latencyBlock,
  latencyCurve,
} from "../../../src/judge/latency.js";
import { histogramWith } from "../../helpers/evidence.js";
import { seededRandom } from "../../helpers/random.js";

type Latencies = Partial<Record<keyof LatencyHistograms, readonly number[]>>;

/** Histograms of these microseconds. */
const part = ({ allowed, limited, failed, censored }: Latencies): LatencyHistograms => ({
  allowed: histogramWith(allowed),
  limited: histogramWith(limited),
  failed: histogramWith(failed),
  censored: histogramWith(censored),
});

const blockOf = (latencies: Latencies) => {
  const block = latencyBlock([part(latencies)]);
  if (!block) throw new Error("no answer");
  return block;
};

const times = (count: number, us: number): number[] => Array.from({ length: count }, () => us);
const PER_MILLE = { p50: 500, p75: 750, p90: 900, p95: 950, p97_5: 975, p99: 990, p99_9: 999 };
const PERCENTILES = Object.entries(PER_MILLE) as [keyof typeof PER_MILLE, number][];

test("without failures each figure is the named percentile, in milliseconds", () => {
  const block = blockOf({
    allowed: Array.from({ length: 1_000 }, (_, index) => (index + 1) * 1_000),
  });
  for (const [name, thousandths] of PERCENTILES)
    expect((block[name] ?? 0) / thousandths, name).toBeCloseTo(1, 2);
  expect(block.min).toBe(1);
  expect((block.max ?? 0) / 1_000).toBeCloseTo(1, 2);
  expect(block.average).toBeCloseTo(500.5, 0);
  expect(block).not.toHaveProperty("bounds");
});

test("the curve passes through the percentiles, and stops where a request without an answer could move it", () => {
  const answers = Array.from({ length: 1_000 }, (_, index) => (index + 1) * 1_000);
  const block = blockOf({ allowed: answers });
  const curve = latencyCurve([part({ allowed: answers })]);
  expect(curve).toHaveLength(CURVE_THOUSANDTHS.length);
  for (const [name, thousandths] of PERCENTILES)
    expect(curve[CURVE_THOUSANDTHS.indexOf(thousandths)], name).toBe(block[name]);

  const stopped = latencyCurve([part({ allowed: times(985, 1_000), censored: times(15, 20_000) })]);
  expect(stopped).toHaveLength(CURVE_THOUSANDTHS.indexOf(985) + 1);
  expect(new Set(stopped)).toEqual(new Set([1]));
  expect(latencyCurve([part({ failed: [100] })])).toEqual([]);
});

test("without an answer there is no block, instead of 0 ms, whatever failed", () => {
  expect(latencyBlock([])).toBeUndefined();
  expect(latencyBlock([part({ failed: [100], censored: [1_000] })])).toBeUndefined();
});

describe("requests without an answer", () => {
  test("that are too few to move a percentile leave it as it is; average and max are not known", () => {
    const block = blockOf({ allowed: times(995, 1_000), censored: times(5, 500_000) });
    const known = { p50: 1, p99: 1, p99_9: null, min: 1, average: null, max: null, stddev: null };
    expect(block).toMatchObject(known);
    expect(Object.keys(block.bounds ?? {}).sort()).toEqual(["average", "max", "p99_9"]);
    expect(block.bounds?.p99_9).toEqual({ low: expect.closeTo(500, -1), high: null });
    expect(block.bounds?.average).toEqual({ low: expect.closeTo(3.495, 1), high: null });
    expect(block.bounds?.max?.high).toBeNull();
    expect(atLeast(block, "p99")).toBe(1);
    expect(atLeast(block, "p99_9")).toBe(block.bounds?.p99_9?.low);
  });

  test("that are more than a percentile leaves out take its upper bound", () => {
    const { p99, bounds } = blockOf({ allowed: times(989, 1_000), censored: times(11, 30_000) });
    expect(p99).toBeNull();
    expect(bounds?.p99).toEqual({ low: expect.closeTo(30, 1), high: null });
  });

  test("bound a percentile from both sides where slower answers follow", () => {
    // 900 answers of 1 ms, 50 of 40 ms; 50 were given up after 2 ms.
    const { p90, p95, bounds } = blockOf({
      allowed: [...times(900, 1_000), ...times(50, 40_000)],
      censored: times(50, 2_000),
    });
    expect(p90).toBe(1);
    expect(p95).toBeNull();
    expect(bounds?.p95).toEqual({ low: 2, high: expect.closeTo(40, 1) });
  });

  test("are failed answers, too, however fast they failed", () => {
    const block = blockOf({ allowed: times(90, 10_000), failed: times(10, 100) });
    // Without the age of the failed answers p90 would be the same, and p95 known.
    expect(block.p90).toBeCloseTo(10, 1);
    expect(block.p95).toBeNull();
    expect(block.bounds?.p95).toEqual({ low: expect.closeTo(10, 1), high: null });
    expect(block.min).toBe(10);
  });

  test("leave a percentile known whose bounds are within the accuracy of a recorded latency", () => {
    const slow = [...times(99, 1_000), ...times(1, 1_040)];
    expect(blockOf({ allowed: slow, censored: [900] }).p99).toBe(1.04);
    const slower = [...times(99, 1_000), ...times(1, 1_060)];
    expect(blockOf({ allowed: slower, censored: [900] }).p99).toBeNull();
  });
});

/**
 * The rule by sorting, with failures of this age: first at their ages, then after everything else.
 */
function bruteForce(answers: readonly number[], others: readonly number[], thousandths: number) {
  const rank = Math.ceil((thousandths * (answers.length + others.length)) / 1000);
  const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b);
  return {
    low: (ascending([...answers, ...others])[rank - 1] ?? Number.NaN) / 1000,
    high: rank > answers.length ? null : (ascending(answers)[rank - 1] ?? Number.NaN) / 1000,
  };
}

/** Latencies below 2048 µs, which the histogram keeps exactly. */
const exact = (random: () => number, count: number): number[] =>
  Array.from({ length: count }, () => 1 + Math.floor(2_000 * random() ** 3));

const seeds = Array.from({ length: 40 }, (_, seed) => seed);

test.each(seeds)("the bounds are those of sorted lists, sample %i", (seed) => {
  const random = seededRandom(seed);
  const answers = exact(random, 1 + Math.floor(200 * random()));
  const others = exact(random, Math.floor(20 * random()));
  const half = Math.floor(answers.length / 2);
  // Split over outcomes and workers, which must make no difference.
  const block = latencyBlock([
    part({ allowed: answers.slice(0, half), censored: others.slice(0, 3) }),
    part({ limited: answers.slice(half), failed: others.slice(3) }),
  ]);
  for (const [name, thousandths] of PERCENTILES) {
    const { low, high } = bruteForce(answers, others, thousandths);
    if (high !== null && high - low <= 0.05 + 1e-9) expect(block?.[name], name).toBe(high);
    else {
      expect(block?.[name], name).toBeNull();
      expect(block?.bounds?.[name], name).toEqual({ low, high });
    }
  }
});

describe("failures never improve a figure", () => {
  const high = (block: ReturnType<typeof blockOf>, name: (typeof movableFigures)[number]): number =>
    block[name] ?? block.bounds?.[name]?.high ?? Number.POSITIVE_INFINITY;

  test.each(seeds)(
    "not compared with the same requests answered at their ages, sample %i",
    (seed) => {
      const random = seededRandom(1_000 + seed);
      const answers = exact(random, 1 + Math.floor(300 * random()));
      const others = exact(random, 1 + Math.floor(30 * random() ** 2));
      const failing = blockOf({ allowed: answers, failed: others });
      const answered = blockOf({ allowed: [...answers, ...others] });
      for (const name of movableFigures) {
        expect(high(failing, name), name).toBeGreaterThanOrEqual(answered[name] ?? 0);
        expect(atLeast(failing, name), name).toBeGreaterThanOrEqual(answered[name] ?? 0);
      }
    },
  );
});
