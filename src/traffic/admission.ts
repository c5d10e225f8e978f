import type { Limits } from "../contract/configuration.js";
import type { Algorithm } from "../contract/target.js";

/**
 * Decides on a request. It is called in the order of time.
 * @param slot the slot of the key
 * @param now_s seconds that are multiples of a window's length where a window begins
 */
type Admits = (slot: number, now_s: number) => boolean;

/** Moments that are this close are the same, because sums of seconds are rounded. */
const SAME_S = 1e-9;

/**
 * A key's first request opens its window, and the first limited one starts the block, if there is
 * one.
 */
function fixedWindow({ points, window_s, block_s, cost = 1 }: Limits, slots: number): Admits {
  const usedPoints = new Float64Array(slots);
  const ends_s = new Float64Array(slots);
  return (slot, now_s) => {
    if (now_s >= (ends_s[slot] ?? 0)) {
      usedPoints[slot] = 0;
      ends_s[slot] = now_s + window_s;
    }
    const pointsBefore = usedPoints[slot] ?? 0;
    // Denied requests count, too.
    const after = pointsBefore + cost;
    usedPoints[slot] = after;
    const admitted = after <= points;
    if (block_s > 0 && !admitted && pointsBefore <= points) ends_s[slot] = now_s + block_s;
    return admitted;
  };
}

/** All keys have the windows of the wall clock, which are otherwise like fixed windows. */
function alignedWindow({ points, window_s, cost = 1 }: Limits, slots: number): Admits {
  const usedPoints = new Float64Array(slots);
  const windows = new Float64Array(slots);
  return (slot, now_s) => {
    const window = Math.floor(now_s / window_s);
    if (window !== windows[slot]) {
      usedPoints[slot] = 0;
      windows[slot] = window;
    }
    const after = (usedPoints[slot] ?? 0) + cost;
    usedPoints[slot] = after;
    return after <= points;
  };
}

/**
 * Keeps two counters for each key, of this window of the wall clock and the one before, which
 * counts by the part of it that the last `window_s` cover. A request is admitted while any point is
 * left, whatever its cost. Denied requests do not count.
 */
function slidingWindow({ points, window_s, cost = 1 }: Limits, slots: number): Admits {
  const usedPoints = new Float64Array(slots);
  const usedBefore = new Float64Array(slots);
  const windows = new Float64Array(slots);

  return (slot, now_s) => {
    const window = Math.floor(now_s / window_s);
    const windowsPassed = window - (windows[slot] ?? 0);
    if (windowsPassed > 0) {
      usedBefore[slot] = windowsPassed === 1 ? (usedPoints[slot] ?? 0) : 0;
      usedPoints[slot] = 0;
      windows[slot] = window;
    }
    const covered = 1 + window - now_s / window_s;
    const usedNow = usedPoints[slot] ?? 0;
    if (Math.floor(covered * (usedBefore[slot] ?? 0)) + usedNow >= points) return false;
    usedPoints[slot] = usedNow + cost;
    return true;
  };
}

/**
 * A request is admitted when the last `window_s` have room for it. Denied requests are not logged.
 */
function slidingLog({ points, window_s, cost = 1 }: Limits, slots: number): Admits {
  const capacity = Math.floor(points / cost);
  // The last admitted requests of each key, in a ring.
  const logs = Array.from({ length: slots }, (): number[] => []);
  const oldest = new Float64Array(slots);

  return (slot, now_s) => {
    const log = logs[slot] ?? [];
    const place = oldest[slot] ?? 0;
    if ((log[place] ?? Number.NEGATIVE_INFINITY) > now_s - window_s + SAME_S) return false;
    log[place] = now_s;
    oldest[slot] = (place + 1) % capacity;
    return true;
  };
}

/**
 * Each key has a bucket of `points` that is full at first, and that `window_s` refill evenly. GCRA
 * decides the same. Denied requests take nothing.
 */
function tokenBucket({ points, window_s, cost = 1 }: Limits, slots: number): Admits {
  const cost_s = (cost * window_s) / points;
  /** When the bucket of each key is full again. */
  const full_s = new Float64Array(slots);
  return (slot, now_s) => {
    const after_s = Math.max(full_s[slot] ?? 0, now_s) + cost_s;
    if (after_s - now_s > window_s + SAME_S) return false;
    full_s[slot] = after_s;
    return true;
  };
}

/**
 * How the limiters of each algorithm decide, for a number of keys that have made no request yet.
 */
export const admissions: Readonly<Record<Algorithm, (limits: Limits, slots: number) => Admits>> = {
  "fixed window": fixedWindow,
  "aligned window": alignedWindow,
  "sliding window": slidingWindow,
  "sliding log": slidingLog,
  "token bucket": tokenBucket,
  GCRA: tokenBucket,
  none: () => () => true,
};
