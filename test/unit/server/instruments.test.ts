import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { processDiagnosisSchema } from "../../../src/contract/diagnosis.js";
import { Instruments } from "../../../src/server/lib/instruments.js";

/** Keeps what it allocates from being optimised away. */
const kept: unknown[] = [];

/** Allocates this many bytes on the heap, in small pieces that die young. */
function allocate(bytes: number): void {
  for (let n = 0; n < bytes / 1_024; n++) kept[n % 16] = new Array(128).fill(n);
}

test("bytes are counted across collections, which are told by kind", () => {
  const instruments = new Instruments();
  const bytes = 256 * 1024 ** 2;
  allocate(bytes);
  const seen = instruments.take();
  expect(seen.allocated_bytes).toBeGreaterThan(0.9 * bytes);
  // `fill` may reallocate, and the tests allocate, too.
  expect(seen.allocated_bytes).toBeLessThan(3 * bytes);
  const { minor } = seen.gc;
  expect(minor?.pauses).toBeGreaterThan(3);
  expect(minor?.longest_us).toBeLessThanOrEqual(minor?.total_us ?? 0);
});

test.runIf(process.platform === "linux")("the system's counts are differences, and fit the contract", () => {
  const instruments = new Instruments();
  for (let n = 0; n < 1_000; n++) readFileSync("/proc/self/stat");
  const seen = instruments.take();
  expect(seen.system_calls?.reads).toBeGreaterThanOrEqual(1_000);
  expect(seen.system_calls?.reads).toBeLessThan(10_000);
  expect(seen.context_switches).toBeDefined();
  expect(processDiagnosisSchema.parse({ requests: 0, ...seen })).toMatchObject(seen);
});
