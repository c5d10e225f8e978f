import type { Limits } from "../../contract/configuration.js";
import type { Algorithm } from "../../contract/target.js";
import { sum } from "../../kit/numbers.js";
import { admissions } from "../../traffic/admission.js";

/** Requests on one key that were sent at once. Times are milliseconds since 1970. */
export interface Burst {
  /** The time at which the first was sent, before which no decision was made. */
  from_ms: number;
  /** The time at which the last was answered, after which no decision was made. */
  to_ms: number;
  count: number;
}

/** How many requests an algorithm can admit. */
export type Range = { least: number; most: number };

/**
 * How far the clocks of two processes on one machine may differ, with the rounding of stores that
 * count milliseconds.
 */
const CLOCK_SLACK_MS = 5;

/**
 * The most bursts whose moments are combined. With more, only the earliest and the latest moments of
 * all of them are tried.
 */
const MOST_COMBINED = 8;

/** How many requests of each burst are admitted where all of them are decided at one moment. */
function admittedAt(
  algorithm: Algorithm,
  limits: Limits,
  bursts: readonly Burst[],
  isLate: (index: number) => boolean,
): number[] {
  const admits = admissions[algorithm](limits, 1);
  let moment_ms = 0;
  return bursts.map(({ from_ms, to_ms, count }, index) => {
    const end_ms = isLate(index) ? to_ms + CLOCK_SLACK_MS : from_ms - CLOCK_SLACK_MS;
    moment_ms = Math.max(moment_ms, end_ms);
    let admitted = 0;
    for (let request = 0; request < count; request++) {
      if (admits(0, moment_ms / 1000)) admitted++;
    }
    return admitted;
  });
}

/**
 * How many requests of each burst on a fresh key a limiter of that algorithm can admit. A burst is
 * decided somewhere between its first send and its last answer, so each is tried at both ends.
 * @param bursts the bursts in the order of time, which do not overlap
 */
export function admittedRanges(
  algorithm: Algorithm,
  limits: Limits,
  bursts: readonly Burst[],
): Range[] {
  const isCombined = bursts.length <= MOST_COMBINED;
  const choices = isCombined ? 2 ** bursts.length : 2;
  const ranges = bursts.map((): Range => ({ least: Number.POSITIVE_INFINITY, most: 0 }));
  for (let choice = 0; choice < choices; choice++) {
    const isLate = (index: number) => (isCombined ? ((choice >> index) & 1) === 1 : choice === 1);
    for (const [index, admitted] of admittedAt(algorithm, limits, bursts, isLate).entries()) {
      const range = ranges[index] as Range;
      const refilled = isLate(index) ? 0 : refilledIn(algorithm, limits, bursts[index] as Burst);
      range.least = Math.min(range.least, admitted);
      range.most = Math.max(range.most, admitted + refilled);
    }
  }
  if (!isRefilled(algorithm)) return ranges;

  // Between the ends of two bursts a point may count for either. On a fresh key the bucket is full.
  return ranges.map(({ least, most }, index) =>
    index === 0 ? { least, most } : { least: Math.max(0, least - 1), most: most + 1 },
  );
}

const isRefilled = (algorithm: Algorithm): boolean =>
  algorithm === "token bucket" || algorithm === "GCRA";

/** The points that a bucket gets while a burst lasts, which a full bucket admits, too. */
function refilledIn(
  algorithm: Algorithm,
  { points, window_s }: Limits,
  { from_ms, to_ms }: Burst,
): number {
  if (!isRefilled(algorithm)) return 0;
  return Math.floor(((to_ms - from_ms + 2 * CLOCK_SLACK_MS) * points) / (1000 * window_s));
}

/**
 * How many requests a limiter of that algorithm can admit in all, of requests on a fresh key that
 * came one by one.
 * @param requests the requests in the order in which they were sent
 */
export function admittedInAll(
  algorithm: Algorithm,
  limits: Limits,
  requests: readonly Burst[],
): Range {
  const totals = [false, true].map((isLate) =>
    sum(admittedAt(algorithm, limits, requests, () => isLate)),
  );
  // The next point of a bucket may come between the ends of a request.
  const slack = isRefilled(algorithm) ? 1 : 0;
  return { least: Math.min(...totals) - slack, most: Math.max(...totals) + slack };
}

/** Whether windows begin at multiples of their length since 1970, for all keys. */
export const hasAlignedWindows = (algorithm: Algorithm): boolean =>
  algorithm === "aligned window" || algorithm === "sliding window";

/** Whether a window of the wall clock may have ended between two moments. */
export function crossesEdge(window_ms: number, from_ms: number, to_ms: number): boolean {
  const windowOf = (moment: number) => Math.floor(moment / window_ms);
  return windowOf(from_ms - CLOCK_SLACK_MS) !== windowOf(to_ms + CLOCK_SLACK_MS);
}

/**
 * The largest number that the algorithm can admit in any `span_ms`, at most a window long.
 * - A fixed window can admit its quota just before its end and again just after.
 * - A log never admits more than the quota.
 * - A bucket (and GCRA) admits what it holds and what is refilled meanwhile.
 * - Two counters that slide admit as much as a bucket, and one more where they round.
 */
export function mostWithin(
  algorithm: Algorithm,
  { points, window_s }: Limits,
  span_ms: number,
): number {
  const refilled = Math.floor((points * span_ms) / (1000 * window_s));
  switch (algorithm) {
    case "fixed window":
    case "aligned window":
      return 2 * points;
    case "sliding log":
      return points;
    case "sliding window":
      return Math.min(2 * points, points + refilled + 1);
    case "token bucket":
    case "GCRA":
      return points + refilled;
    case "none":
      return Number.POSITIVE_INFINITY;
  }
}

/**
 * The largest number of these spans, each as [sent, answered], that lie wholly within any
 * `span_ms`.
 */
export function largestWithin(
  spans: readonly (readonly [number, number])[],
  span_ms: number,
): number {
  let largest = 0;
  for (const [from] of spans) {
    const until = from + span_ms;
    const within = spans.filter(([sent, answered]) => sent >= from && answered <= until).length;
    largest = Math.max(largest, within);
  }
  return largest;
}
