import { expect, test } from "vitest";
import type { Limits } from "../../../src/contract/configuration.js";
import type { Slices } from "../../../src/contract/result.js";
import type { Algorithm } from "../../../src/contract/target.js";
import { predictionFor } from "../../../src/traffic/outcome-mix.js";
import { serverOf, validEvidence } from "../../helpers/evidence.js";

const work = { traffic: "realistic" };
const { counts, ...run } = validEvidence();
const answered = counts.allowed + counts.limited;
const lead_in = { took_s: 0, requests: 0 };
const warmup = { took_s: 1, requests: answered / 5, lead_in };
/** 5 s of 100 ms, with as many requests in each. */
const evenSlices = (requests: number): Slices => {
  const of = (count: number) => Array.from({ length: 50 }, () => count);
  return { width_ms: 100, allowed: of(requests / 50), limited: of(0), failed: of(0), latency_sum_us: of(0) };
};
const window = {
  opened_at: new Date("2026-01-01T00:00:01Z"),
  opens_s: 1,
  slices: evenSlices(answered),
};
const server = serverOf({ ...run, counts });
const readings = (limits: Limits | undefined) => ({
  at_start: [server.at_start],
  at_end: [server.at_end],
  ...(limits ? { limits } : {}),
});

test("with a quota that cannot be used up, the keys alone decide", () => {
  expect(
    predictionFor(work, warmup, readings({ points: 1e9, window_s: 60, block_s: 0 }), counts, window),
  ).toEqual({
    limited_share: 0.1,
    seen_share: 0.1,
    tolerance: 0.012,
    basis: "traffic",
  });
});

test("with a quota that the hottest key could use up, the basis is the limits", () => {
  const asked = server.at_end.requests;
  const basis = (points: number) =>
    predictionFor(work, warmup, readings({ points, window_s: 60, block_s: 0 }), counts, window)?.basis;
  expect([basis(asked - 1), basis(asked)]).toEqual(["limits", "traffic"]);
});

test("the tolerance is four standard deviations for few answers, one percentage point for many", () => {
  const tolerance = (scale: number) => {
    const scaled = { ...counts, allowed: counts.allowed * scale, limited: counts.limited * scale };
    return predictionFor(work, warmup, readings({ points: 1e9, window_s: 60, block_s: 0 }), scaled, window)
      ?.tolerance;
  };
  expect(tolerance(0.01)).toBeCloseTo(0.12, 6);
  expect(tolerance(100)).toBe(0.01);
});

test("the limiter's algorithm decides, and for windows of the wall clock the time at which the load began", () => {
  const limits = { points: 2, window_s: 10, block_s: 0 };
  const share = (algorithm?: Algorithm, opened_at = window.opened_at) =>
    predictionFor(work, warmup, { ...readings(limits), ...(algorithm ? { algorithm } : {}) }, counts, {
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
    predictionFor({ traffic: "fixed" }, { took_s: 2, requests, lead_in }, readings(limits), counts, {
      ...window,
      opens_s,
      slices: evenSlices(5000),
    })?.limited_share;
  // The window has what the warm-up left of the quota,
  expect(share(100, 2)).toBeCloseTo(1 - 900 / 5000, 3);
  expect(share(800, 2)).toBeCloseTo(1 - 200 / 5000, 3);
  // and a new quota for its last 2 s once the first one has ended.
  expect(share(800, 7)).toBeCloseTo(1 - (200 + 1000) / 5000, 3);
});
