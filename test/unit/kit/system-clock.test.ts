import { describe, expect, test } from "vitest";
import {
  ClockComparison,
  clockSetText,
  largestChange,
  wasClockSet,
} from "../../../src/kit/system-clock.js";

/** Clocks that run alike until one is set. Each reading takes a moment, and some take long. */
function clocks() {
  const state = { monotonic_ms: 1000, ahead_ms: 1.7e12, readings: 0 };
  const read = (): number => {
    state.readings++;
    state.monotonic_ms += state.readings % 7 === 0 ? 300 : 0.01;
    return state.monotonic_ms;
  };
  return { state, monotonicMs: read, wallMs: () => Math.floor(read() + state.ahead_ms) };
}

test.each([5000, -5000, 3_600_000])(
  "a wall clock that was set by %i ms is found, and how far",
  (ms) => {
    const both = clocks();
    const comparison = new ClockComparison(both);
    both.state.monotonic_ms += 20_000;
    both.state.ahead_ms += ms;
    const change = comparison.change();
    expect(wasClockSet(change)).toBe(true);
    expect(Math.abs(change.changed_ms - ms)).toBeLessThan(5);
    expect(change.over_s).toBeGreaterThan(20);
  },
);

test("one that runs, or that a time service slews, was not set", () => {
  const both = clocks();
  const comparison = new ClockComparison(both);
  expect(wasClockSet(comparison.change())).toBe(false);
  both.state.monotonic_ms += 600_000;
  both.state.ahead_ms += 300;
  expect(wasClockSet(comparison.change())).toBe(false);
});

test("the system's own clocks agree", () => {
  expect(wasClockSet(new ClockComparison().change())).toBe(false);
});

describe("what was compared several times", () => {
  test("tells most where the clock moved furthest beyond what slewing does", () => {
    const [slewed, set] = [
      { changed_ms: 2000, over_s: 7200 },
      { changed_ms: -500, over_s: 10 },
    ];
    expect(largestChange([slewed, set])).toBe(set);
    expect(largestChange([])).toBeUndefined();
  });

  test("says in seconds how far, and where to", () => {
    expect(clockSetText({ changed_ms: 4999.8, over_s: 10 })).toMatch(/set by 5 s$/);
    expect(clockSetText({ changed_ms: -3_600_000, over_s: 10 })).toMatch(/set back by 3600 s$/);
  });
});
