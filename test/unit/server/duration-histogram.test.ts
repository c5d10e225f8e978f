import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { processDiagnosisSchema } from "../../../src/contract/diagnosis.js";
import { shiftClock } from "../../../src/server/lib/clock-shift.js";
import { Instruments } from "../../../src/server/lib/instruments.js";
import { DurationHistogram } from "../../../src/server/lib/server-counters.js";
import { compute } from "../../../src/server/routes/workload-routes.js";

const realDate = Date;
afterEach(() => {
  globalThis.Date = realDate;
});

test("a shifted clock is ahead wherever the time is read, and given times stay as they are", () => {
  shiftClock(30_000);
  const constructed = new Date();
  const ahead = [Date.now(), constructed.getTime()].map((at_ms) =>
    Math.round((at_ms - realDate.now()) / 1000),
  );
  expect(ahead).toEqual([30, 30]);
  expect(new Date(5).getTime()).toBe(5);
  expect(constructed).toBeInstanceOf(Date);
  expect(Date.UTC(1970, 0, 1)).toBe(0);
});

/** Keeps what it allocates from being optimised away. */
const kept: unknown[] = [];

/** Allocates this many bytes on the heap, in small pieces that die young. */
function allocate(bytes: number): void {
  for (let index = 0; index < bytes / 1_024; index++) kept[index % 16] = new Array(128).fill(index);
}

test("bytes are counted across collections, which are told by kind", () => {
  const instruments = new Instruments();
  const bytes = 256 * 1024 ** 2;
  allocate(bytes);
  const diagnosis = instruments.take();
  expect(diagnosis.allocated_bytes).toBeGreaterThan(0.9 * bytes);
  // `fill` may reallocate, and the tests allocate, too.
  expect(diagnosis.allocated_bytes).toBeLessThan(3 * bytes);
  const { minor } = diagnosis.gc;
  expect(minor?.pauses).toBeGreaterThan(3);
  expect(minor?.longest_us).toBeLessThanOrEqual(minor?.total_us ?? 0);
});

test.runIf(process.platform === "linux")(
  "the system's counts are differences, and fit the contract",
  () => {
    const instruments = new Instruments();
    for (let index = 0; index < 1_000; index++) readFileSync("/proc/self/stat");
    const seen = instruments.take();
    expect(seen.system_calls?.reads).toBeGreaterThanOrEqual(1_000);
    expect(seen.system_calls?.reads).toBeLessThan(10_000);
    expect(seen.context_switches).toBeDefined();
    expect(processDiagnosisSchema.parse({ requests: 0, ...seen })).toMatchObject(seen);
  },
);

test("the work grows linearly with complexity", () => {
  const stepsPerRound = compute(1, 7).steps;
  expect(stepsPerRound).toBeGreaterThan(10_000);
  for (const complexity of [2, 3, 10])
    expect(compute(complexity, 7).steps).toBe(complexity * stepsPerRound);
});

test("the same seed gives the same result, another seed or complexity another one", () => {
  expect(compute(3, 42)).toEqual(compute(3, 42));
  const results = [
    compute(3, 42),
    compute(3, 43),
    compute(4, 42),
    compute(3, 0),
    compute(3, 2 ** 32 - 1),
  ];
  expect(new Set(results.map(({ result }) => result)).size).toBe(results.length);
});

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
