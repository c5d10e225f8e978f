import { expect, test } from "vitest";
import {
  createArrivals,
  type ScheduleShare,
  streamOfShare,
} from "../../../../src/benchmark/open-loop/schedule.js";
import { placeOfWorker, shareOf, sharesBefore } from "../../../../src/benchmark/workers/protocol.js";
import { findProfile } from "../../../../src/traffic/lookup.js";
import { openTraffic } from "../../../../src/traffic/streams.js";

/** The places of the workers of each of several generators. */
const placesOf = (generators: number, workers: number) =>
  Array.from({ length: generators }, (_, index) => {
    const share = generators > 1 ? { share: { index, of: generators } } : {};
    return Array.from({ length: workers }, (_, worker) => placeOfWorker({ ...share, workers }, worker));
  });

const sumOf = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test.each([
  [10, 1, 1],
  [7, 2, 1],
  [10, 2, 3],
  [50, 4, 1],
  [101, 4, 3],
  [33, 32, 1],
  [10_000, 7, 5],
])(
  "connections, and the requests of a closed loop, over generators and their workers %i are divided exactly and evenly over %i × %i workers",
  (total, generators, workers) => {
    const places = placesOf(generators, workers);
    const byGenerator = places.map((own) => sumOf(own.map((place) => shareOf(total, place))));
    const all = places.flat();
    expect(sumOf(byGenerator)).toBe(total);
    expect(Math.max(...byGenerator) - Math.min(...byGenerator)).toBeLessThanOrEqual(1);
    // Each connection has one worker: the ranges follow each other without a gap.
    const ranges = all
      .map((place) => [sharesBefore(total, place), shareOf(total, place)] as const)
      .sort(([one], [other]) => one - other);
    let next = 0;
    for (const [first, count] of ranges) {
      expect(first).toBe(next);
      expect(count).toBeGreaterThan(0);
      next += count;
    }
    expect(next).toBe(total);
  },
);

/** All sends of the first second at 1000/s, in their order: when each is due, and which request it is. */
function sendsOf(
  generators: number,
  workers: number,
  arrivals: ScheduleShare["arrivals"],
): [number, number][] {
  const seed = 7;
  return placesOf(generators, workers)
    .flat()
    .flatMap((place): [number, number][] => {
      const share = { rate_per_second: 1000, arrivals, seed, ...place };
      const whole = openTraffic(findProfile("realistic"), seed, { connections: 1, first: 0, count: 1 });
      const [stream] = whole.streams.map((each) => streamOfShare(each, share));
      const next = createArrivals(share);
      const sends: [number, number][] = [];
      for (let due = next(); due < 1000; due = next()) sends.push([due, stream?.next() ?? Number.NaN]);
      return sends;
    })
    .sort(([one], [other]) => one - other);
}

test.each(["constant", "poisson"] as const)(
  "an open loop of %s arrivals sends the same keys at the same times, whatever the number of generators and workers",
  (arrivals) => {
    const alone = sendsOf(1, 1, arrivals);
    expect(alone.length).toBeGreaterThan(900);
    for (const [generators, workers] of [
      [1, 2],
      [2, 1],
      [4, 1],
      [4, 3],
    ] as const)
      expect(sendsOf(generators, workers, arrivals)).toEqual(alone);
  },
);
