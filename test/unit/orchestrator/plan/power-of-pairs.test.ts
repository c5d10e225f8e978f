import { expect, test } from "vitest";
import {
  detectableDifference,
  roundsForNoDifference,
} from "../../../../src/orchestrator/plan/power-of-pairs.js";

const margin = 0.02;
const systematic = 0;

// The figures are those of `detectable_difference` and `runs_needed` in report/statistics/power.py;
// test/report/statistics/test_power.py holds the same ones against them.
test.each([
  [0.04, 6, 1, 8.7],
  [0.04, 7, 3, 7.4],
  [0.04, 15, 3, 5.3],
  [0.06, 10, 3, 8.4],
  [0.06, 60, 1, 4.3],
])(
  "pairs that deviate by %d find in %d rounds and %d comparisons what the report says",
  (deviation, rounds, comparisons, percent) => {
    const found =
      detectableDifference({ rounds, deviation, comparisons, margin, systematic }) ?? Number.NaN;
    expect(100 * found).toBeCloseTo(percent, 1);
  },
);

test("rounds that cannot pass the correction find nothing", () => {
  const design = { deviation: 0.04, margin, systematic };
  expect(detectableDifference({ ...design, rounds: 6, comparisons: 3 })).toBeUndefined();
  expect(detectableDifference({ ...design, rounds: 5, comparisons: 1 })).toBeUndefined();
});

test.each([
  [0.04, 1, 47],
  [0.04, 3, 52],
  [0.06, 3, 114],
])(
  "pairs that deviate by %d show no difference in %d comparisons after %d rounds",
  (deviation, comparisons, rounds) => {
    expect(roundsForNoDifference({ deviation, comparisons, margin, systematic })).toBe(rounds);
  },
);

test("a wider margin takes fewer rounds, and one that is too narrow more than 1000", () => {
  const rounds = (share: number) =>
    roundsForNoDifference({ deviation: 0.04, comparisons: 1, margin: share, systematic });
  expect(rounds(0.05)).toBeLessThan(15);
  expect(rounds(0.001)).toBeUndefined();
});

// test/report/statistics/test_power.py holds these against the report, too.
test("a systematic error makes the smallest difference larger, and equality dearer or impossible", () => {
  const design = { deviation: 0.04, comparisons: 1, margin };
  const smallest = detectableDifference({ ...design, rounds: 60, systematic: 0.006 });
  expect(100 * (smallest ?? Number.NaN)).toBeCloseTo(4.2, 1);
  expect(roundsForNoDifference({ ...design, systematic: 0.006 })).toBe(94);
  expect(roundsForNoDifference({ ...design, systematic: 0.02 })).toBeUndefined();
});
