import { describe, expect, test } from "vitest";
import { WarmupWatch } from "../../../src/judge/warmup-watch.js";

/** Noise that goes up and down from slice to slice. */
const noisy = (index: number): number => 1 + 0.02 * Math.cos(index * 2.4);

type OfSlice = (index: number) => number;

interface Course {
  model?: "closed" | "open";
  fewestRequests?: number;
  answers?: OfSlice;
  failed?: number;
  latency_us?: OfSlice;
  /** Undefined where nothing is read. */
  cpu_us?: OfSlice | undefined;
  slice_s?: number;
}

/** The number of slices until the warm-up is over, and whether it was steady then. */
function endOf({
  model = "closed",
  fewestRequests = 20_000,
  answers = (index) => Math.round(4_000 * noisy(index)),
  failed = 0,
  latency_us = () => 500,
  cpu_us = (index) => 100 * noisy(index + 3),
  slice_s = 0.125,
}: Course): { slices: number; isSteady: boolean } {
  const watch = new WarmupWatch(model, fewestRequests);
  let slices = 0;
  for (; !watch.isOver; slices++) {
    const count = answers(slices);
    watch.add({
      took_s: slice_s,
      requests: count + failed,
      answers: count,
      latency_sum_us: count * latency_us(slices),
      cpu_us_per_request: cpu_us?.(slices),
    });
  }
  return { slices, isSteady: watch.isSteady };
}

const settlesAt =
  (slices: number, first: number, last: number): OfSlice =>
  (index) =>
    (index < slices ? first + ((last - first) * index) / slices : last) * noisy(index);

describe("a warm-up of auto [M26]", () => {
  test("ends after ten slices without a trend, if enough requests were sent", () => {
    expect(endOf({})).toEqual({ slices: 10, isSteady: true });
    expect(endOf({ answers: (index) => Math.round(1_000 * noisy(index)) }).slices).toBeGreaterThan(
      18,
    );
    expect(endOf({ answers: () => 1_000 })).toEqual({ slices: 20, isSteady: true });
    expect(endOf({ answers: () => 500, failed: 500 })).toEqual({ slices: 20, isSteady: true });
    expect(endOf({ answers: () => 1_000, fewestRequests: 5_000 }).slices).toBe(10);
  });

  test("goes on while CPU per request still falls, though latency and rate are flat", () => {
    const { slices, isSteady } = endOf({ cpu_us: settlesAt(40, 200, 100) });
    expect(isSteady).toBe(true);
    expect(slices).toBeGreaterThan(40);
    expect(slices).toBeLessThan(60);
    expect(endOf({ cpu_us: undefined }).slices).toBe(10);
  });

  test.each([
    ["latency falls", { latency_us: settlesAt(40, 900, 500) }],
    ["latency rises", { latency_us: settlesAt(40, 500, 900) }],
    ["CPU per request rises", { cpu_us: settlesAt(40, 100, 200) }],
    ["the rate of answers rises", { answers: settlesAt(40, 1_000, 4_000) }],
    ["the rate of answers falls", { answers: settlesAt(40, 4_000, 1_000) }],
  ])("goes on while %s", (_, course) => {
    const { slices, isSteady } = endOf(course);
    expect(isSteady).toBe(true);
    expect(slices).toBeGreaterThan(40);
    expect(slices).toBeLessThan(60);
  });

  test("of an open loop goes by latency and CPU: the rate of answers is that of the schedule", () => {
    const answers = settlesAt(40, 1_000, 4_000);
    expect(endOf({ model: "open", fewestRequests: 0, answers }).slices).toBe(10);
  });

  test("of an open loop is not steady while slices are without an answer", () => {
    const answers = (index: number) => (index % 8 === 0 ? 0 : 200);
    expect(endOf({ model: "open", fewestRequests: 0, answers })).toEqual({
      slices: 80,
      isSteady: false,
    });
  });

  test("of a closed loop whose connections march in step sees the ramp that their bursts hide", () => {
    // Bursts of 2000 answers: one in most slices, two in some, without a trend.
    const answers = (index: number) => (index % 3 === 0 ? 4_000 : 2_000);
    const latency_us = (index: number) =>
      (index < 45 ? 90_000 - 1_000 * index : 45_000) * noisy(index) ** 0.1;
    expect(endOf({ answers, latency_us: () => 45_000 }).slices).toBe(10);
    expect(endOf({ answers, latency_us }).slices).toBeGreaterThan(45);
  });

  test("ends after ten seconds of load: a slow target is steady then if its slices have no trend", () => {
    expect(endOf({ answers: () => 50 })).toEqual({ slices: 80, isSteady: true });
    expect(endOf({ answers: () => 50, cpu_us: (index) => 1_000 - index })).toEqual({
      slices: 80,
      isSteady: false,
    });
    expect(endOf({ answers: () => 50, slice_s: 2 })).toEqual({ slices: 5, isSteady: true });
    expect(endOf({ answers: () => 50, slice_s: 5 })).toEqual({ slices: 2, isSteady: false });
  });

  test.each(["closed", "open"] as const)(
    "of a %s loop ends when nothing is answered, and is not steady",
    (model) => {
      const answers = () => 0;
      expect(endOf({ model, answers, failed: 200 })).toEqual({ slices: 10, isSteady: false });
    },
  );
});
