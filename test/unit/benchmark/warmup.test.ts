import { describe, expect, test } from "vitest";
import { type WarmupSlice, WarmupWatch } from "../../../src/benchmark/warmup.js";

/** Noise that goes up and down from slice to slice. */
const noisy = (index: number): number => 1 + 0.02 * Math.cos(index * 2.4);

interface Course {
  model?: "closed" | "open";
  workers?: number;
  generators?: number;
  slices?: number;
  answers?: (index: number) => number;
  latency_us?: (index: number) => number;
  failed?: number;
}

/** @returns after how many seconds the warm-up may end; undefined: never */
function endOf({
  model = "closed",
  workers = 1,
  generators = 1,
  slices = 100,
  answers = (index) => Math.round(1000 * noisy(index)),
  latency_us = () => 500,
  failed = 0,
}: Course): number | undefined {
  const watch = new WarmupWatch(workers, model, { generators });
  for (let index = 0; index < slices; index++) {
    for (let worker = 0; worker < workers; worker++) {
      const count = answers(index);
      const slice: WarmupSlice = {
        ends_ms: (index + 1) * 100,
        width_ms: 100,
        answers: count,
        latency_sum_us: count * latency_us(index),
        failed,
      };
      const mayEnd = watch.add(worker, slice);
      expect(mayEnd).toBe(watch.isSteady);
      if (mayEnd) return (index + 1) / 10;
    }
  }
  return undefined;
}

describe("a warm-up of auto [M26]", () => {
  test("ends after three seconds at the earliest", () => {
    expect(endOf({})).toBe(3);
  });

  test("of a closed loop goes on while its answers rise, and ends soon after", () => {
    const answers = (index: number) =>
      Math.round((index < 45 ? 200 + 20 * index : 1100) * noisy(index));
    const end = endOf({ answers });
    expect(end).toBeGreaterThan(4.5);
    expect(end).toBeLessThan(6);
  });

  test("of an open loop goes by latency: its answers are those of the schedule", () => {
    const answers = () => 100;
    const latency_us = (index: number) =>
      Math.round((index < 45 ? 5000 - 100 * index : 500) * noisy(index));
    expect(endOf({ model: "open", answers, latency_us: () => 500 })).toBe(3);
    expect(endOf({ model: "open", answers, latency_us })).toBeGreaterThan(4.5);
  });

  test("sends at least a thousand requests, over all workers, failures among them", () => {
    expect(endOf({ answers: () => 20 })).toBe(5);
    expect(endOf({ answers: () => 20, workers: 2 })).toBe(3);
    expect(endOf({ answers: () => 10, failed: 10 })).toBe(5);
    // One of two generators sends half of them.
    expect(endOf({ answers: () => 10, generators: 2 })).toBe(5);
  });

  test("of an open loop does not end while slices are without an answer", () => {
    const answers = (index: number) => (index % 8 === 0 ? 0 : 200);
    expect(endOf({ model: "open", answers })).toBeUndefined();
  });

  test("of a closed loop whose connections march in step sees the ramp that their bursts hide", () => {
    // Bursts of 200 answers: one in most slices, two in some, without a trend.
    const answers = (index: number) => (index % 3 === 0 ? 400 : 200);
    const latency_us = (index: number) =>
      (index < 45 ? 90_000 - 1_000 * index : 45_000) * noisy(index) ** 0.1;
    expect(endOf({ answers, latency_us: () => 45_000 })).toBe(3);
    expect(endOf({ answers, latency_us })).toBeGreaterThan(4.5);
    expect(endOf({ answers, latency_us })).toBeLessThan(7);
  });

  test.each(["closed", "open"] as const)(
    "of a %s loop does not end while nothing is answered",
    (model) => {
      expect(endOf({ model, answers: () => 0, failed: 200 })).toBeUndefined();
    },
  );

  test("waits for the slices of all workers", () => {
    const watch = new WarmupWatch(2, "closed");
    const slice = (index: number): WarmupSlice => ({
      ends_ms: (index + 1) * 100,
      width_ms: 100,
      answers: 1000,
      latency_sum_us: 1,
      failed: 0,
    });
    for (let index = 0; index < 50; index++) expect(watch.add(0, slice(index))).toBe(false);
    const ends = Array.from({ length: 50 }, (_, index) => watch.add(1, slice(index)));
    expect(ends.indexOf(true)).toBe(29);
  });
});
