import type { Algorithm } from "../../contract/target.js";

/** The outcome of a request: `UNDECIDED` where nobody knows it, or what the limiter decided. */
export const UNDECIDED = 0;
export const ADMITTED = 1;
export const LIMITED = 2;

/**
 * The requests of one key in the order of their sends. Times are milliseconds of one monotonic
 * clock.
 */
export interface KeyDecisions {
  key: string;
  isAbove: boolean;
  sent_ms: Float64Array;
  /** Infinite for a request of which nobody knows when it was decided on, if at all. */
  answered_ms: Float64Array;
  outcome: Uint8Array;
  /** The wait that a limited answer named. It is NaN where it named none. */
  wait_ms: Float32Array;
}

function countUntil(ascending: Float64Array, limit: number, isIncluded: boolean): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const value = ascending[middle] ?? 0;
    if (value < limit || (isIncluded && value === limit)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const countAtMost = (ascending: Float64Array, limit: number): number =>
  countUntil(ascending, limit, true);
const countBelow = (ascending: Float64Array, limit: number): number =>
  countUntil(ascending, limit, false);

/**
 * Requests as two ascending lists, of their sends and of their answers. A request was decided on
 * somewhere between the two, so one that lies within an interval as a whole was decided on in it,
 * and one that does not touch it was not.
 */
type Intervals = { sent_ms: Float64Array; answered_ms: Float64Array };

export function intervalsOf(
  { sent_ms, answered_ms, outcome }: KeyDecisions,
  outcomes: readonly number[],
  from_ms = Number.NEGATIVE_INFINITY,
  to_ms = Number.POSITIVE_INFINITY,
): Intervals {
  const isIncluded = (_: number, index: number) => {
    const sent = sent_ms[index] ?? 0;
    return outcomes.includes(outcome[index] ?? UNDECIDED) && sent >= from_ms && sent < to_ms;
  };
  return {
    sent_ms: sent_ms.filter(isIncluded),
    answered_ms: answered_ms.filter(isIncluded).sort(),
  };
}

/** How many requests lie within [from, to) as a whole, which is a lower bound. */
export const countWithin = (
  { sent_ms, answered_ms }: Intervals,
  from_ms: number,
  to_ms: number,
): number => Math.max(0, countBelow(answered_ms, to_ms) - countBelow(sent_ms, from_ms));

/** The most requests that lie within any half-open interval of this length as a whole. */
export function mostAdmittedWithin({ sent_ms, answered_ms }: Intervals, length_ms: number): number {
  let mostAdmitted = 0;
  let answered = 0;
  // An interval with the most requests begins with a send.
  for (let first = 0; first < sent_ms.length; first++) {
    const ends_ms = (sent_ms[first] ?? 0) + length_ms;
    while (answered < answered_ms.length && (answered_ms[answered] ?? 0) < ends_ms) answered++;
    mostAdmitted = Math.max(mostAdmitted, answered - first);
  }
  return mostAdmitted;
}

export type Quota = { requests: number; window_ms: number };

/**
 * The measured window in monotonic milliseconds. Adding `wall_offset_ms` to them gives the time of
 * the wall clock.
 */
export type MeasuredSpan = { opened_ms: number; closed_ms: number; wall_offset_ms: number };

/**
 * By how much a limiter's clock may be off between two of its readings: it counts whole
 * milliseconds, and ours and the wall clock may drift apart by 500 ppm (the most that NTP slews), a
 * millisecond in two seconds.
 */
export const CLOCK_MS = 2;

const ROUNDING = 1e-6;

/**
 * Judges what the limiters of an algorithm promise about one key. A request is decided on at an
 * unknown moment between its send and its answer, so both judgements are bounds. There are at least
 * as many surplus admissions and unjustified denials as they say.
 */
export interface AlgorithmPromise {
  /** The most admissions in any half-open interval of this length. */
  mostIn(quota: Quota, length_ms: number): number;
  /** The admissions beyond what the algorithm can give. */
  surplus(quota: Quota, admitted: Intervals, span: MeasuredSpan): number;
  /** The denials in the span that the algorithm cannot give. */
  unjustified(quota: Quota, key: KeyDecisions, span: MeasuredSpan): number;
}

/** Calls back with each denial that was sent in the span, in the order of sends. */
function eachDenial(
  { sent_ms, answered_ms, outcome }: KeyDecisions,
  { opened_ms, closed_ms }: MeasuredSpan,
  call: (sent_ms: number, answered_ms: number) => void,
): void {
  for (const [index, sent] of sent_ms.entries()) {
    if (outcome[index] === LIMITED && sent >= opened_ms && sent < closed_ms)
      call(sent, answered_ms[index] ?? sent);
  }
}

/** Requests that may have used points of the key before a denial. */
interface Uses {
  /** When admitted and undecided requests were sent. */
  sent_ms: Float64Array;
  /** When admitted requests were answered. */
  answered_ms: Float64Array;
}

const usesOf = (key: KeyDecisions): Uses => ({
  sent_ms: intervalsOf(key, [ADMITTED, UNDECIDED]).sent_ms,
  answered_ms: intervalsOf(key, [ADMITTED]).answered_ms,
});

/** How many uses may have been decided on after `from`, and at `to` at the latest. */
const usesBetween = ({ sent_ms, answered_ms }: Uses, from_ms: number, to_ms: number): number =>
  countAtMost(sent_ms, to_ms) - countAtMost(answered_ms, from_ms);

/**
 * The promise of window algorithms: an interval of n windows holds parts of n + `more` of them. A
 * denial is justified if the window up to its decision has a quota of admissions.
 */
function windows(more: number): AlgorithmPromise {
  const mostIn = ({ requests, window_ms }: Quota, length_ms: number): number =>
    requests * (Math.ceil(length_ms / window_ms) + more);
  return {
    mostIn,
    surplus(quota, admitted) {
      const { requests, window_ms } = quota;
      const first = admitted.sent_ms[0] ?? 0;
      const length_ms = (admitted.answered_ms.at(-1) ?? 0) - first;
      let surplus = 0;
      for (let count = 1; (count - 1) * window_ms <= length_ms; count++) {
        const mostAdmitted = mostAdmittedWithin(admitted, count * window_ms - CLOCK_MS);
        surplus = Math.max(surplus, mostAdmitted - requests * (count + more));
      }
      return surplus;
    },
    unjustified({ requests, window_ms }, key, span) {
      const uses = usesOf(key);
      let unjustified = 0;
      eachDenial(key, span, (sent, answered) => {
        if (usesBetween(uses, sent - window_ms - CLOCK_MS, answered) < requests) unjustified++;
      });
      return unjustified;
    },
  };
}

/** Counts the admissions beyond the quota in each window of the wall clock. */
function surplusOfAligned(
  { requests, window_ms }: Quota,
  admitted: Intervals,
  { wall_offset_ms }: MeasuredSpan,
): number {
  const first = admitted.sent_ms[0];
  const last = admitted.answered_ms.at(-1);
  if (first === undefined || last === undefined) return 0;

  let surplus = 0;
  const firstWindow = Math.floor((first + wall_offset_ms) / window_ms);

  for (let window = firstWindow; window * window_ms - wall_offset_ms <= last; window++) {
    const begins_ms = window * window_ms - wall_offset_ms;
    const admittedInWindow = countWithin(
      admitted,
      begins_ms + CLOCK_MS,
      begins_ms + window_ms - CLOCK_MS,
    );
    surplus += Math.max(0, admittedInWindow - requests);
  }

  return surplus;
}

/**
 * A key's first request opens its window. A burst near the end of a window may use the next one,
 * too, so an interval meets parts of one window more.
 */
const fixedWindow = windows(1);

/** All keys have windows that begin and end by the wall clock. */
const alignedWindow: AlgorithmPromise = {
  ...fixedWindow,
  surplus: (quota, admitted, span) =>
    Math.max(fixedWindow.surplus(quota, admitted, span), surplusOfAligned(quota, admitted, span)),
};

/**
 * The limiter keeps two counters. The window before counts by the part of it that the last window
 * covers, as if its admissions were evenly spread. Where they came at its end, a whole quota
 * follows, so the bound is that of aligned windows.
 */
const slidingWindow: AlgorithmPromise = {
  ...alignedWindow,
  unjustified({ requests, window_ms }, key, span) {
    const uses = usesOf(key);
    const windowOf = (at_ms: number) => Math.floor((at_ms + span.wall_offset_ms) / window_ms);
    let unjustified = 0;
    eachDenial(key, span, (sent, answered) => {
      let isJustified = false;
      for (
        let window = windowOf(sent - CLOCK_MS);
        window <= windowOf(answered + CLOCK_MS);
        window++
      ) {
        const begins_ms = window * window_ms - span.wall_offset_ms;
        const into_ms = Math.max(0, sent - CLOCK_MS - begins_ms);
        const usedBefore = usesBetween(
          uses,
          begins_ms - window_ms - CLOCK_MS,
          begins_ms + CLOCK_MS,
        );
        const usedNow = usesBetween(uses, begins_ms - CLOCK_MS, answered);
        if ((1 - into_ms / window_ms) * usedBefore + usedNow >= requests - ROUNDING)
          isJustified = true;
      }
      if (!isJustified) unjustified++;
    });

    return unjustified;
  },
};

/** The admissions of the last window are at most the quota, wherever it begins. */
const slidingLog = windows(0);

/**
 * The promise of buckets that a window refills evenly.
 * @param extra points by which a bucket that is refilled in steps may be ahead
 */
function bucket(extra: number): AlgorithmPromise {
  const perMs = ({ requests, window_ms }: Quota) => requests / window_ms;
  return {
    mostIn: (quota, length_ms) =>
      Math.floor(quota.requests + extra + perMs(quota) * (length_ms + CLOCK_MS) + ROUNDING),
    surplus(quota, admitted) {
      const rate = perMs(quota);
      const { sent_ms, answered_ms } = admitted;

      let furthest = 0;
      let started = 0;
      // The surplus is the largest, over all intervals from a send to an answer, of the admissions
      // less what the interval refills.
      let leastBefore = Number.POSITIVE_INFINITY;
      for (const [index, answered] of answered_ms.entries()) {
        while (started < sent_ms.length && (sent_ms[started] ?? 0) <= answered) {
          leastBefore = Math.min(leastBefore, started - rate * (sent_ms[started] ?? 0));
          started++;
        }
        furthest = Math.max(furthest, index + 1 - rate * answered - leastBefore);
      }

      return Math.max(0, Math.ceil(furthest - quota.requests - extra - rate * CLOCK_MS - ROUNDING));
    },
    unjustified(quota, key, span) {
      const rate = perMs(quota);
      const uses = usesOf(key);
      // The bucket is emptiest if each admission took its point as late as it can have.
      let level = quota.requests;
      let at_ms = Number.NEGATIVE_INFINITY;
      let nextUse = 0;
      const refilled = (to_ms: number) =>
        at_ms === Number.NEGATIVE_INFINITY
          ? quota.requests
          : Math.min(quota.requests, level + rate * Math.max(0, to_ms - at_ms));

      let unjustified = 0;
      eachDenial(key, span, (sent, answered) => {
        for (
          ;
          nextUse < uses.answered_ms.length && (uses.answered_ms[nextUse] ?? 0) <= sent;
          nextUse++
        ) {
          level = refilled(uses.answered_ms[nextUse] ?? 0) - 1;
          at_ms = uses.answered_ms[nextUse] ?? 0;
        }
        const inBetween = usesBetween(uses, sent, answered);
        if (refilled(sent - CLOCK_MS) - inBetween >= 1 + ROUNDING) unjustified++;
      });

      return unjustified;
    },
  };
}

/** The promise of each algorithm, derived in docs/traffic.md. It is undefined without a limiter. */
export const algorithmPromises: Readonly<Record<Algorithm, AlgorithmPromise | undefined>> = {
  "fixed window": fixedWindow,
  "aligned window": alignedWindow,
  "sliding window": slidingWindow,
  "sliding log": slidingLog,
  // It may refill in whole points, by a clock that does not begin with the key.
  "token bucket": bucket(1),
  GCRA: bucket(0),
  none: undefined,
};
