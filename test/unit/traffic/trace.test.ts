import { expect, test } from "vitest";
import { limitedInTrace, predictLimitedShare, restartedAt } from "../../../src/traffic/prediction.js";
import { openTraffic } from "../../../src/traffic/streams.js";
import { meanRate, traceColumns, traceProfile } from "../../../src/traffic/trace.js";

/** A burst of one key, then each key once. */
const columns = traceColumns(8);
columns.keys.set([0, 0, 0, 0, 1, 2, 3, 4]);
columns.times_ms.set([0, 1, 2, 3, 1000, 2000, 3000, 3500]);
const top_shares = { top_1: 0.5, top_10: 1, top_100: 1 };
const facts = {
  sha256: "0".repeat(64),
  lines: 8,
  keys: 5,
  span_s: 3.5,
  rate_per_second: meanRate(columns),
  top_shares,
};
const trace = { facts, ...columns };
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
  const [one] = streams;
  one?.restart?.();
  expect([one?.next(), one?.next()]).toEqual([0, 0]);
});

test("what an algorithm limits follows from keys and times", () => {
  const limits = { points: 2, window_s: 1, block_s: 0 };
  // Of a burst of four, two.
  expect(limitedInTrace(trace, limits, "fixed window", facts.rate_per_second)).toBe(2 / 8);
  // A thousandth as fast, each request of the burst has a window of its own.
  expect(limitedInTrace(trace, limits, "fixed window", facts.rate_per_second / 1000)).toBe(0);
  expect(limitedInTrace(trace, { ...limits, cost: 3 }, "GCRA", facts.rate_per_second)).toBe(1);
});

test("a prediction of a replay knows that the window begins with the first request again", () => {
  const limits = { points: 2, window_s: 1, block_s: 0 };
  const load = [
    { begins_s: 0, length_s: 2, requests: 5 },
    { begins_s: 5, length_s: 0.01, requests: 4 },
  ];
  const share = (phases: typeof load) => predictLimitedShare(profile, limits, { opens_s: 5, load: phases });
  expect(share(load)).toBe(0);
  expect(share(restartedAt(5, load))).toBe(1 / 2);
});
