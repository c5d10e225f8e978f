import { expect, test } from "vitest";
import { shareOf, sharesBefore } from "../../../../src/benchmark/workers/protocol.js";
import { sum } from "../../../../src/kit/numbers.js";
import { placesOf } from "../../../helpers/worker-places.js";

test.each([
  [10, 1, 1],
  [7, 2, 1],
  [10, 2, 3],
  [50, 4, 1],
  [101, 4, 3],
  [33, 32, 1],
  [10_000, 7, 5],
])(
  "%i connections are divided exactly and evenly over %i generators of %i workers each",
  (total, generators, workers) => {
    const places = placesOf(generators, workers);
    const byGenerator = places.map((ofGenerator) =>
      sum(ofGenerator.map((place) => shareOf(total, place))),
    );
    const allPlaces = places.flat();
    expect(sum(byGenerator)).toBe(total);
    expect(Math.max(...byGenerator) - Math.min(...byGenerator)).toBeLessThanOrEqual(1);
    // Each connection has one worker: the ranges follow each other without a gap.
    const ranges = allPlaces
      .map((place) => [sharesBefore(total, place), shareOf(total, place)] as const)
      .sort(([a], [b]) => a - b);
    let next = 0;
    for (const [first, count] of ranges) {
      expect(first).toBe(next);
      expect(count).toBeGreaterThan(0);
      next += count;
    }
    expect(next).toBe(total);
  },
);
