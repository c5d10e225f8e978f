import { describe, expect, test } from "vitest";
import { SliceRecorder } from "../../../../src/benchmark/measurement/recorder.js";
import { mergeSlices } from "../../../../src/judge/merging/slices.js";

describe("the slices of a window", () => {
  test("begin with the window; the last one also takes what came at the very close", () => {
    const slices = new SliceRecorder(5_000);
    for (const now_ms of [5_000, 5_099.9, 5_100, 5_299, 5_300.4, 5_401]) slices.record("allowed", 10, now_ms);
    expect(slices.of(300)).toEqual({
      width_ms: 100,
      allowed: [2, 1, 3],
      limited: [0, 0, 0],
      failed: [0, 0, 0],
      latency_sum_us: [20, 10, 30],
    });
  });

  test.each([
    [300, 3],
    // Two times of the clock whose difference is not exact.
    [1_048_276.2199993924 + 300 - 1_048_276.2199993924, 3],
    [301, 4],
    [0.4, 1],
    [30_000, 300],
  ])("of %d ms are %i", (length_ms, count) => {
    expect(new SliceRecorder(0).of(length_ms).allowed).toHaveLength(count);
  });

  test("of several workers add up by index", () => {
    const [one, other] = [new SliceRecorder(0), new SliceRecorder(1)];
    one.record("allowed", 10, 50);
    other.record("allowed", 20, 60);
    other.record("failed", 0, 160);
    expect(mergeSlices([one.of(100), other.of(200)])).toEqual({
      width_ms: 100,
      allowed: [2, 0],
      limited: [0, 0],
      failed: [0, 1],
      latency_sum_us: [30, 0],
    });
  });
});
