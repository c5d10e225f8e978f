import { describe, expect, test } from "vitest";
import type { Limits } from "../../../src/contract/configuration.js";
import type { Slices } from "../../../src/contract/request-outcomes.js";
import { type Algorithm, algorithms } from "../../../src/contract/target.js";
import { definedOnly } from "../../../src/kit/defined-only.js";
import { admissions } from "../../../src/traffic/admission.js";
import { findProfile } from "../../../src/traffic/lookup.js";
import { predictionFor } from "../../../src/traffic/outcome-mix.js";
import { predictAdmitted, predictLimitedShare } from "../../../src/traffic/prediction.js";
import type { TrafficProfile } from "../../../src/traffic/traffic-types.js";
import { type EvenLoad, evenly } from "../../helpers/even-load.js";
import { serverOf, validEvidence } from "../../helpers/evidence.js";
import { playedLimitedShare } from "../../helpers/fixed-window.js";

const work = { traffic: "realistic" };
const { counts, ...run } = validEvidence();
const answered = counts.allowed + counts.limited;
const lead_in = { took_s: 0, requests: 0 };
const warmup = { took_s: 1, requests: answered / 5, lead_in };
/** 5 s of 100 ms, with as many requests in each. */
const evenSlices = (requests: number): Slices => {
  const fiftyOf = (count: number) => Array.from({ length: 50 }, () => count);
  return {
    width_ms: 100,
    allowed: fiftyOf(requests / 50),
    limited: fiftyOf(0),
    failed: fiftyOf(0),
    latency_sum_us: fiftyOf(0),
  };
};
const window = {
  opened_at: new Date("2026-01-01T00:00:01Z"),
  opens_s: 1,
  slices: evenSlices(answered),
};
const server = serverOf({ ...run, counts });
const readings = (limits: Limits | undefined) =>
  definedOnly({
    at_start: [server.at_start],
    at_end: [server.at_end],
    limits,
  });

test("with a quota that cannot be used up, the keys alone decide", () => {
  expect(
    predictionFor(
      work,
      warmup,
      readings({ points: 1e9, window_s: 60, block_s: 0 }),
      counts,
      window,
    ),
  ).toEqual({ limited_share: 0.1, seen_share: 0.1, tolerance: 0.012, basis: "traffic" });
});

test("with a quota that the hottest key could use up, the basis is the limits", () => {
  const asked = server.at_end.requests;
  const basis = (points: number) =>
    predictionFor(work, warmup, readings({ points, window_s: 60, block_s: 0 }), counts, window)
      ?.basis;
  expect([basis(asked - 1), basis(asked)]).toEqual(["limits", "traffic"]);
});

test("the tolerance is four standard deviations for few answers, one percentage point for many", () => {
  const tolerance = (scale: number) => {
    const scaled = { ...counts, allowed: counts.allowed * scale, limited: counts.limited * scale };
    return predictionFor(
      work,
      warmup,
      readings({ points: 1e9, window_s: 60, block_s: 0 }),
      scaled,
      window,
    )?.tolerance;
  };
  expect(tolerance(0.01)).toBeCloseTo(0.12, 6);
  expect(tolerance(100)).toBe(0.01);
});

test("the limiter's algorithm decides, and for windows of the wall clock the time at which the load began", () => {
  const limits = { points: 2, window_s: 10, block_s: 0 };
  const share = (algorithm?: Algorithm, opened_at = window.opened_at) =>
    predictionFor(work, warmup, definedOnly({ ...readings(limits), algorithm }), counts, {
      ...window,
      opened_at,
    })?.limited_share;
  expect(share()).toBe(share("fixed window"));
  expect(share("GCRA")).toBeLessThan(share("fixed window") ?? 0);
  // The window of the clock ends 3 s after the window of the run has opened.
  expect(share("aligned window", new Date("2026-01-01T00:00:57Z"))).toBeLessThan(
    share("aligned window") ?? 0,
  );
});

test("the load counts as it was: the warm-up at its own rate, and the pause before the window", () => {
  const limits = { points: 1000, window_s: 10, block_s: 0 };
  const share = (requests: number, opens_s: number) =>
    predictionFor(
      { traffic: "fixed" },
      { took_s: 2, requests, lead_in },
      readings(limits),
      counts,
      {
        ...window,
        opens_s,
        slices: evenSlices(5000),
      },
    )?.limited_share;
  // The window has what the warm-up left of the quota,
  expect(share(100, 2)).toBeCloseTo(1 - 900 / 5000, 3);
  expect(share(800, 2)).toBeCloseTo(1 - 200 / 5000, 3);
  // and a new quota for its last 2 s once the first one has ended.
  expect(share(800, 7)).toBeCloseTo(1 - (200 + 1000) / 5000, 3);
});

const allowed = findProfile("allowed");
const denied = findProfile("denied");
const fixed = findProfile("fixed");
const realistic = findProfile("realistic");

describe("under limits that cannot be used up, the limited share is the traffic's", () => {
  const expected = { realistic: 0.1, fixed: 0, allowed: 0, denied: 1 };
  test.each([realistic, fixed, allowed, denied])("$id", (profile) => {
    for (const requests_per_second of [10, 100_000]) {
      const span = evenly({ opens_s: 10, closes_s: 310, requests_per_second });
      const share = predictLimitedShare(profile, profile.limits, span);
      expect(share).toBeCloseTo(expected[profile.id as keyof typeof expected], 12);
    }
  });
});

const seen = (opens_s: number, closes_s: number, requests_per_second: number) => ({
  opens_s,
  closes_s,
  requests_per_second,
});

describe("one key under explicit limits is predicted exactly", () => {
  test.each([
    [
      "used up before the window opens",
      { points: 100, window_s: 60, block_s: 0 },
      seen(2, 12, 500),
      1,
    ],
    [
      "3 s, 5 s limited, then 2 s more",
      { points: 5000, window_s: 10, block_s: 0 },
      seen(2, 12, 1000),
      0.5,
    ],
    [
      "windows one after the other",
      { points: 250, window_s: 1, block_s: 0 },
      seen(0, 100, 1000),
      0.75,
    ],
    [
      "a block takes the window's place",
      { points: 100, window_s: 60, block_s: 3 },
      seen(0, 325, 100),
      0.75,
    ],
    ["a cost", { points: 5000, window_s: 10, block_s: 0, cost: 2 }, seen(0, 10, 1000), 0.75],
    [
      "a rest of less than a cost",
      { points: 9, window_s: 1, block_s: 0, cost: 5 },
      seen(0, 100, 10),
      0.9,
    ],
    [
      "a block after a cost",
      { points: 100, window_s: 60, block_s: 3, cost: 30 },
      seen(0, 303, 1),
      0.5,
    ],
    ["a cost above the quota", { points: 4, window_s: 60, block_s: 0, cost: 5 }, seen(0, 10, 1), 1],
    ["never reached", { points: 100, window_s: 1, block_s: 9 }, seen(0, 10, 99), 0],
  ])("%s", (_what, limits, window, share) => {
    expect(predictLimitedShare(fixed, limits, evenly(window))).toBeCloseTo(share, 2);
  });

  test("also in a run of a day", () => {
    const limits = { points: 500, window_s: 1, block_s: 0 };
    expect(predictLimitedShare(fixed, limits, evenly(seen(3_600, 86_400, 20_000)))).toBeCloseTo(
      0.975,
      3,
    );
  });
});

test("a request with two descriptors is limited when either of them is", () => {
  const profile = {
    ...fixed,
    population: () => ({
      requests: [["user-1", "user-2"], ["user-3", "exhausted-1"], ["user-4"]] as [
        string,
        ...string[],
      ][],
      shares: Float64Array.of(0.2, 0.3, 0.5),
    }),
  };
  const seen = { opens_s: 0, closes_s: 10, requests_per_second: 1000 };
  expect(
    predictLimitedShare(profile, { points: 10_000, window_s: 60, block_s: 0 }, evenly(seen)),
  ).toBeCloseTo(0.3, 12);
  expect(
    predictLimitedShare(profile, { points: 1, window_s: 60, block_s: 0 }, evenly(seen)),
  ).toBeGreaterThan(0.999);
});

describe("one key of 500 requests a second under a quota of 100 in 10 s, by algorithm", () => {
  const limits = { points: 100, window_s: 10, block_s: 0 };
  const seen = { opens_s: 2, closes_s: 12, requests_per_second: 500 };
  /** 5 s before a window of the wall clock ends. */
  const began_at_s = 1_700_000_005;
  test.each<[string, Algorithm, Partial<EvenLoad>, number]>([
    ["a window that opens 10 s after the first request", "fixed window", {}, 100],
    [
      "a window of the clock that begins 5 s after the first request",
      "aligned window",
      { began_at_s },
      100,
    ],
    ["two windows of the clock", "aligned window", { began_at_s, closes_s: 17 }, 200],
    [
      "half of the window before, after half a window",
      "sliding window",
      { opens_s: 10, closes_s: 15 },
      50,
    ],
    ["the first requests leave the log after 10 s", "sliding log", {}, 100],
    ["a refill of 10 a second", "token bucket", { closes_s: 7 }, 50],
    ["a quota and its refill", "token bucket", { opens_s: 0, closes_s: 10 }, 200],
    ["a refill of 10 a second", "GCRA", { closes_s: 7 }, 50],
    ["a quota and its refill", "GCRA", { opens_s: 0, closes_s: 10 }, 200],
    ["all", "none", {}, 5000],
  ])("%s (%s)", (_what, algorithm, changes, admitted) => {
    const window = { ...seen, ...changes };
    const requests = (window.closes_s - window.opens_s) * window.requests_per_second;
    const share = predictLimitedShare(fixed, limits, evenly(window), algorithm);
    expect(Math.abs((1 - share) * requests - admitted)).toBeLessThan(1.5);
  });
});

test("each algorithm decides on a key that asks at odd times", () => {
  const times = [0, 9, 9.5, 10, 10.5, 19, 20];
  const outcomes = (algorithm: Algorithm) => {
    const admits = admissions[algorithm]({ points: 2, window_s: 10, block_s: 0 }, 1);
    return times.map((now_s) => (admits(0, now_s) ? "+" : "-")).join("");
  };
  expect(
    Object.fromEntries(algorithms.map((algorithm) => [algorithm, outcomes(algorithm)])),
  ).toEqual({
    "fixed window": "++-++-+",
    "aligned window": "++-++-+",
    // The two of the window before count as 2 at 10, as 1 at 10.5 and as none at 19.
    "sliding window": "++--++-",
    "sliding log": "++-+-++",
    // One point takes 5 s.
    "token bucket": "+++--++",
    GCRA: "+++--++",
    none: "+++++++",
  });
});

describe("under explicit limits the prediction is within one percentage point of the simulation", () => {
  type Case = readonly [TrafficProfile, Limits, ReturnType<typeof seen>];
  const cases: readonly Case[] = [
    [fixed, { points: 100, window_s: 60, block_s: 0 }, seen(2, 12, 500)],
    [fixed, { points: 1000, window_s: 1, block_s: 0 }, seen(1, 7.3, 4000)],
    [fixed, { points: 5000, window_s: 10, block_s: 0 }, seen(2, 12, 1000)],
    [fixed, { points: 300, window_s: 2, block_s: 0 }, seen(0, 5, 200)],
    [fixed, { points: 100, window_s: 1, block_s: 3 }, seen(1, 16, 400)],
    [fixed, { points: 10, window_s: 60, block_s: 1 }, seen(0, 30, 300)],
    [allowed, { points: 100, window_s: 60, block_s: 0 }, seen(10, 40, 2000)],
    [allowed, { points: 50, window_s: 60, block_s: 0, cost: 7 }, seen(2, 12, 3000)],
    [allowed, { points: 5, window_s: 60, block_s: 0 }, seen(2, 12, 3000)],
    [allowed, { points: 10, window_s: 1, block_s: 0 }, seen(2, 8, 5000)],
    [allowed, { points: 3, window_s: 5, block_s: 0 }, seen(5, 35, 4000)],
    [allowed, { points: 2, window_s: 1, block_s: 5 }, seen(2, 12, 4000)],
    [realistic, { points: 100, window_s: 60, block_s: 0 }, seen(10, 40, 2000)],
    [realistic, { points: 1, window_s: 10, block_s: 0 }, seen(2, 12, 3000)],
    [realistic, { points: 20, window_s: 2, block_s: 4 }, seen(2, 12, 5000)],
  ];
  const named = cases.map(([profile, limits, seen]) => ({
    profile,
    limits,
    seen,
    name: `${profile.id} ${JSON.stringify({ ...limits, ...seen })}`,
  }));
  test.each(named)("$name", ({ profile, limits, seen }) => {
    const played = [1, 2, 3].map((seed) => playedLimitedShare(profile, limits, seen, seed));
    const mean = played.reduce((sum, share) => sum + share, 0) / played.length;
    const predicted = predictLimitedShare(profile, limits, evenly(seen));
    expect(
      Math.abs(predicted - mean),
      `predicted ${predicted}, played ${mean}`,
    ).toBeLessThanOrEqual(0.01);
  });
});

test("counters that are lost give every key its quota anew", () => {
  const limits = { points: 100, window_s: 60, block_s: 0 };
  const load = evenly({ opens_s: 5, closes_s: 15, requests_per_second: 40 });
  const admitted = (part: { from_s: number; lost_s?: number }) =>
    predictAdmitted(fixed, limits, load, part);
  expect(admitted({ from_s: 0 })).toBe(100);
  expect(admitted({ from_s: 2 })).toBe(20);
  expect(admitted({ from_s: 6 })).toBe(0);
  expect(admitted({ from_s: 6, lost_s: 6 })).toBe(100);
  // The run ends before they have used it.
  expect(admitted({ from_s: 14, lost_s: 14 })).toBe(40);
});
