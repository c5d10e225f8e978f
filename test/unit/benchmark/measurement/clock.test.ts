import { expect, test } from "vitest";
import { tightestOriginMs } from "../../../../src/benchmark/measurement/clock.js";

/** Clocks whose difference is 1000 ms, in a thread that stops for so long before and after each cheap reading. */
function clocks(pauses_ms: readonly (readonly [before: number, after: number])[]) {
  let now_ms = 5_000;
  let bracket = 0;
  let isOpen = false;
  return {
    exactMs() {
      if (isOpen) now_ms += pauses_ms[bracket++]?.[1] ?? 0;
      isOpen = !isOpen;
      return now_ms;
    },
    cheapMs() {
      now_ms += pauses_ms[bracket]?.[0] ?? 0;
      return now_ms - 1_000;
    },
  };
}

test.each([
  [
    "first",
    [
      [0.001, 10],
      [0.01, 0.01],
      [0.02, 0.02],
    ],
  ],
  [
    "last",
    [
      [0.02, 0.02],
      [0.01, 0.01],
      [10, 0.001],
    ],
  ],
] as const)(
  "the origin of the cheap clock comes from the tightest bracket, when the thread lost its CPU in the %s one",
  (_which, pauses) => {
    const { exactMs, cheapMs } = clocks(pauses);
    // The middle of the wide bracket is 5 ms off.
    expect(tightestOriginMs(exactMs, cheapMs, pauses.length)).toBeCloseTo(1_000, 6);
  },
);
