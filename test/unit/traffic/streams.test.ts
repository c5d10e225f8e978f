import { describe, expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { boundary, KEYS_ABOVE, MOST_REQUESTS } from "../../../src/traffic/boundary-traffic.js";
import { findProfile, findWorkload } from "../../../src/traffic/lookup.js";
import {
  limitedInTrace,
  predictLimitedShare,
  restartedAt,
} from "../../../src/traffic/prediction.js";
import { profiles } from "../../../src/traffic/profiles.js";
import { AliasTable, createStreams, openTraffic } from "../../../src/traffic/streams.js";
import { meanRate, traceColumns, traceProfile } from "../../../src/traffic/trace.js";
import type { RequestStream } from "../../../src/traffic/traffic-types.js";
import { expectFailure } from "../../helpers/errors.js";

/** A burst of one key, then each key once. */
const columns = traceColumns(8);
columns.keys.set([0, 0, 0, 0, 1, 2, 3, 4]);
columns.times_ms.set([0, 1, 2, 3, 1000, 2000, 3000, 3500]);
const top_shares = { top_1: 0.5, top_10: 1, top_100: 1 };
const rate_per_second = meanRate(columns);
const summary = {
  sha256: "0".repeat(64),
  lines: 8,
  keys: 5,
  span_s: 3.5,
  rate_per_second,
  top_shares,
};
const trace = { summary, ...columns };
const profile = traceProfile(trace);

test("its keys come in its order, round and round; each connection begins at a place of its own", () => {
  const range = { connections: 2, first: 0, count: 2 };
  const { requests, streams } = openTraffic(profile, 1, range);
  const drawn = streams.map((stream) => Array.from({ length: 9 }, () => stream.next()));
  expect(requests).toHaveLength(5);
  expect(drawn).toEqual([
    [0, 0, 0, 0, 1, 2, 3, 4, 0],
    [1, 2, 3, 4, 0, 0, 0, 0, 1],
  ]);
  const [stream] = streams;
  stream?.restart?.();
  expect([stream?.next(), stream?.next()]).toEqual([0, 0]);
});

test("what an algorithm limits follows from keys and times", () => {
  const limits = { points: 2, window_s: 1, block_s: 0 };
  // Of a burst of four, two.
  expect(limitedInTrace(trace, limits, "fixed window", summary.rate_per_second)).toBe(2 / 8);
  // A thousandth as fast, each request of the burst has a window of its own.
  expect(limitedInTrace(trace, limits, "fixed window", summary.rate_per_second / 1000)).toBe(0);
  expect(limitedInTrace(trace, { ...limits, cost: 3 }, "GCRA", summary.rate_per_second)).toBe(1);
});

test("a prediction of a replay knows that the window begins with the first request again", () => {
  const limits = { points: 2, window_s: 1, block_s: 0 };
  const load = [
    { begins_s: 0, length_s: 2, requests: 5 },
    { begins_s: 5, length_s: 0.01, requests: 4 },
  ];
  const share = (phases: typeof load) =>
    predictLimitedShare(profile, limits, { opens_s: 5, load: phases });
  expect(share(load)).toBe(0);
  expect(share(restartedAt(5, load))).toBe(1 / 2);
});

const binding = boundary.binding;
if (!binding) throw new Error("its quota binds");

const open = (rate_per_second: number) => ({
  model: "open" as const,
  rate_per_second,
  arrivals: "constant" as const,
  connections: 200,
});

test.each([
  [5000, 2, 10],
  [2500, 2, 5],
  // 14 points would be refilled every 142.86 ms.
  [7000, 2, 10],
  [5000, 1, 5],
  [200, 2, 0],
])(
  "the quota at %i/s in windows of %i s: %i points, each a whole number of milliseconds",
  (rate, window_s, quota) => {
    expect(binding.quotaAt(rate, window_s)).toBe(quota);
  },
);

describe("what it cannot do is refused with what would help [R-boundary-2]", () => {
  test.each([
    ["a closed loop", { model: "closed" as const, connections: 10 }, 10, 2, "add --rate"],
    ["too few points", open(1000), 30, 2, "give --rate 2500 or more, or --window 5"],
    [
      "too few windows",
      open(5000),
      5,
      2,
      "give --duration-mode custom:6 or more, or a shorter --window",
    ],
    ["more than is kept", open(100_000), 60, 2, `${MOST_REQUESTS} at most`],
  ])("%s", (_, load, duration_s, window_s, text) => {
    expect(binding.problemWith(load, { duration_s }, window_s, "auto")).toContain(text);
  });

  test("three windows at the lowest rate are enough, also as a number of requests", () => {
    expect(binding.problemWith(open(2500), { duration_s: 6 }, 2, 0)).toBeUndefined();
    expect(binding.problemWith(open(2500), { requests: 15_000 }, 2, 0)).toBeUndefined();
    expect(binding.problemWith(open(2500), { requests: 14_000 }, 2, 0)).toContain(
      "5.6 s are less than",
    );
  });
});

test("keys are offered 3 times and half of their quota, and those below it never exceed it in any window", () => {
  const [rate, window_s, quota] = [5000, 2, 10];
  const range = { connections: 1, first: 0, count: 1 };
  const limits = { points: quota, window_s, block_s: 0 };
  const [stream] = openTraffic(boundary, 7, range, limits).streams;
  const windows = 6;
  const times: number[][] = boundary.population().requests.map(() => []);
  for (let index = 0; index < rate * window_s * windows; index++)
    times[stream?.next() ?? 0]?.push(index / rate);
  for (const [key, sends] of times.entries()) {
    const offered = sends.length / windows / quota;
    expect(offered).toBeCloseTo(key < KEYS_ABOVE ? 3 : 0.5, 1);
    if (key < KEYS_ABOVE) continue;
    const inAnyWindow = sends.map(
      (from) => sends.filter((at) => at >= from && at < from + window_s).length,
    );
    expect(Math.max(...inAnyWindow)).toBeLessThanOrEqual(quota);
  }
  // A key above its quota begins with two quotas at once, so that concurrent requests meet the same
  // count.
  const [first = []] = times;
  const together = first.map((from) => first.filter((at) => at >= from && at < from + 0.01).length);
  expect(Math.max(...together)).toBeGreaterThanOrEqual(2 * quota);
});

const realistic = findProfile("realistic");

const population = realistic.population();
const table = new AliasTable(population.shares);
const draw = (stream: RequestStream | undefined, count: number): number[] =>
  Array.from({ length: count }, () => stream?.next() ?? Number.NaN);

describe.each(profiles)("the profile $id", (profile) => {
  const { requests, shares } = profile.population();
  test("has one share for each request; the shares add up to 1", () => {
    expect(shares).toHaveLength(requests.length);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(Math.min(...shares)).toBeGreaterThan(0);
  });

  test("has distinct requests with keys that the server accepts", () => {
    const keys = requests.map((descriptors) => descriptors.join(" "));
    expect(new Set(keys).size).toBe(keys.length);
    expect(requests.flat().every((key) => /^[a-z]+-\d+$/.test(key))).toBe(true);
  });
});

describe("the requests of a connection", () => {
  test("are the same for the same seed, and others for another", () => {
    const [first, again] = [7, 7].map((seed) => draw(createStreams(table, seed, 0, 1)[0], 500));
    expect(first).toEqual(again);
    expect(draw(createStreams(table, 8, 0, 1)[0], 500)).not.toEqual(first);
  });

  test.each([[[10]], [[4, 6]], [[1, 2, 3, 4]], [[5, 1, 1, 1, 1, 1]]])(
    "do not depend on how 10 connections are spread over workers: %j",
    (split) => {
      const alone = createStreams(table, 42, 0, 10).map((stream) => draw(stream, 50));
      let first = 0;
      const spread = split.flatMap((count) => {
        const streams = createStreams(table, 42, first, count);
        first += count;
        return streams.map((stream) => draw(stream, 50));
      });
      expect(spread).toEqual(alone);
    },
  );

  test("differ from those of all other connections", () => {
    const sequences = createStreams(table, 1, 0, 200).map((stream) => draw(stream, 20).join());
    expect(new Set(sequences).size).toBe(200);
  });
});

test("over many requests keys follow Zipf's law: rank 1 is used 10^0.99 times as often as rank 10", () => {
  const DRAWS = 200_000;
  const counts = new Float64Array(population.requests.length);
  for (const stream of createStreams(table, 3, 0, 20)) {
    for (const index of draw(stream, DRAWS / 20)) counts[index] = (counts[index] ?? 0) + 1;
  }
  const { shares } = population;
  expect((shares[0] ?? 0) / (shares[9] ?? 1)).toBeCloseTo(10 ** 0.99, 9);
  const ratio = (counts[0] ?? 0) / (counts[9] ?? 1);
  expect(ratio).toBeGreaterThan(8);
  expect(ratio).toBeLessThan(12);
  const hottest = counts.slice(0, 900).reduce((sum, count) => sum + count, 0);
  expect(hottest / DRAWS).toBeGreaterThan(0.6);
});

test("unknown traffic and workloads are usage errors that list the valid names", async () => {
  await expectFailure(
    () => findProfile("real"),
    EXIT.usage,
    '"real"',
    "realistic, fixed, allowed, denied",
  );
  await expectFailure(() => findWorkload("x".repeat(300)), EXIT.usage, "light, heavy");
});
