/** What became of a request: nobody knows, or the limiter decided. */
export const UNDECIDED = 0;
export const ADMITTED = 1;
export const LIMITED = 2;

/** The requests of one key in the order of their sends. Times are milliseconds of one monotonic clock. */
export interface KeyDecisions {
  key: string;
  isAbove: boolean;
  sent_ms: Float64Array;
  /** Infinite for a request of which nobody knows when it was decided on, if at all. */
  answered_ms: Float64Array;
  outcome: Uint8Array;
  /** How long a limited answer said to wait; NaN where it said nothing. */
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

export const countAtMost = (ascending: Float64Array, limit: number): number =>
  countUntil(ascending, limit, true);
export const countBelow = (ascending: Float64Array, limit: number): number =>
  countUntil(ascending, limit, false);

/**
 * Requests as two ascending lists, of their sends and of their answers. A request was decided on somewhere between the
 * two, so one that lies within an interval as a whole was decided on in it, and one that does not touch it was not.
 */
export interface Intervals {
  sent_ms: Float64Array;
  answered_ms: Float64Array;
}

export function intervalsOf(
  { sent_ms, answered_ms, outcome }: KeyDecisions,
  outcomes: readonly number[],
  from_ms = Number.NEGATIVE_INFINITY,
  to_ms = Number.POSITIVE_INFINITY,
): Intervals {
  const isMeant = (_: number, index: number) => {
    const sent = sent_ms[index] ?? 0;
    return outcomes.includes(outcome[index] ?? UNDECIDED) && sent >= from_ms && sent < to_ms;
  };
  return { sent_ms: sent_ms.filter(isMeant), answered_ms: answered_ms.filter(isMeant).sort() };
}

/** Requests within [from, to) as a whole: a lower bound. */
export const countWithin = ({ sent_ms, answered_ms }: Intervals, from_ms: number, to_ms: number): number =>
  Math.max(0, countBelow(answered_ms, to_ms) - countBelow(sent_ms, from_ms));

/** The most requests that lie within any half-open interval of this length as a whole. */
export function mostWithin({ sent_ms, answered_ms }: Intervals, length_ms: number): number {
  let most = 0;
  let answered = 0;
  // An interval with the most requests begins with a send.
  for (let first = 0; first < sent_ms.length; first++) {
    const ends_ms = (sent_ms[first] ?? 0) + length_ms;
    while (answered < answered_ms.length && (answered_ms[answered] ?? 0) < ends_ms) answered++;
    most = Math.max(most, answered - first);
  }
  return most;
}
