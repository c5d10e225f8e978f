import { expect, test } from "vitest";
import { DurationHistogram } from "../../../src/server/lib/counters.js";

/** Bound of the first bucket that holds the one observation, in µs. */
function boundOf(us: number): number {
  const histogram = new DurationHistogram();
  histogram.observe(us / 1_000);
  const bucket = histogram.read().buckets.find(({ count }) => count === 1);
  return Math.round((bucket?.le_s ?? Number.POSITIVE_INFINITY) * 1_000_000);
}

test.each([
  [0, 64],
  [1, 64],
  [64, 64],
  [65, 128],
  [128, 128],
  [129, 256],
  [1_000, 1_024],
  [8_388_608, 8_388_608],
])("%i µs belong to the bucket up to %i µs", (us, bound) => {
  expect(boundOf(us)).toBe(bound);
});

test("buckets are cumulative and end at the count", () => {
  const histogram = new DurationHistogram();
  for (let us = 10; us < 100_000; us *= 2) histogram.observe(us / 1_000);
  const { buckets, count } = histogram.read();
  const counts = buckets.map((bucket) => bucket.count);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(counts.at(-1)).toBe(count);
});
