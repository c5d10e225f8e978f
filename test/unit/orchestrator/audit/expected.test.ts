import { describe, expect, test } from "vitest";
import type { Limits } from "../../../../src/contract/configuration.js";
import { algorithms } from "../../../../src/contract/target.js";
import {
  admittedRanges,
  crossesEdge,
  largestWithin,
  mostWithin,
} from "../../../../src/orchestrator/audit/expected.js";
import { admissions } from "../../../../src/traffic/admission.js";

const LIMITS: Limits = { points: 20, window_s: 2, block_s: 0 };
/** A multiple of every window, so that moments are easy to read. */
const T = 1_700_000_000_000;
const burst = (from: number, to: number, count = 40) => ({
  from_ms: T + from,
  to_ms: T + to,
  count,
});

describe("what an algorithm can admit", () => {
  test("is exactly the quota of a burst on a fresh key, and what a bucket refills while it lasts", () => {
    expect(admittedRanges("fixed window", LIMITS, [burst(0, 150)])).toEqual([
      { least: 20, most: 20 },
    ]);
    expect(admittedRanges("GCRA", LIMITS, [burst(0, 50)])).toEqual([{ least: 20, most: 20 }]);
    const [, second] = admittedRanges("GCRA", LIMITS, [burst(0, 50), burst(150, 350)]);
    // A point comes back every 100 ms, and one at the edge of a burst may count for it.
    expect(second).toEqual({ least: 0, most: 4 });
  });

  test("is known on both sides of a window's end, and open where a burst may lie on either", () => {
    const bursts = [burst(0, 20), burst(1800, 1820), burst(2100, 2120)];
    expect(admittedRanges("fixed window", LIMITS, bursts)).toEqual([
      { least: 20, most: 20 },
      { least: 0, most: 0 },
      { least: 20, most: 20 },
    ]);
    expect(admittedRanges("fixed window", LIMITS, [burst(0, 20), burst(1990, 2100)])[1]).toEqual({
      least: 0,
      most: 20,
    });
  });

  test("follows a block", () => {
    const limits = { points: 5, window_s: 1, block_s: 3 };
    const bursts = [burst(0, 20), burst(1300, 1310), burst(2700, 2710), burst(3300, 3310)];
    expect(
      admittedRanges("fixed window", limits, bursts).map(({ least, most }) => [least, most]),
    ).toEqual([
      [5, 5],
      [0, 0],
      [0, 0],
      [5, 5],
    ]);
  });
});

test("a window of the wall clock ends between two moments, or it does not", () => {
  expect(crossesEdge(1000, T + 100, T + 900)).toBe(false);
  expect(crossesEdge(1000, T + 900, T + 1100)).toBe(true);
});

test.each(algorithms.filter((algorithm) => algorithm !== "none"))(
  "no span of a busy key gets more than the bound of %s",
  (algorithm) => {
    // Bursts at moments that fall before, at and after all edges, on one key that is never at rest.
    const admits = admissions[algorithm](LIMITS, 1);
    const spans: [number, number][] = [];
    let now = T + 137;
    for (let n = 0; n < 400; n++) {
      now += (n * 7919) % 211;
      for (let each = 0; each < 7; each++) if (admits(0, now / 1000)) spans.push([now, now]);
    }
    for (const span of [500, 2000])
      expect(largestWithin(spans, span)).toBeLessThanOrEqual(mostWithin(algorithm, LIMITS, span));
  },
);

test("an admission whose way reaches beyond a span is not in it", () => {
  const spans = [
    [0, 10],
    [5, 90],
    [6, 200],
  ] as const;
  expect(largestWithin(spans, 100)).toBe(2);
});
