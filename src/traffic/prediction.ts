import type { Limits } from "../contract/configuration.js";
import { EXHAUSTED_KEY_PREFIX } from "../contract/server-api.js";
import { openTraffic } from "./streams.js";
import { FRESH_KEY, type TrafficProfile } from "./types.js";

/** The measured window on the time line of the keys, whose first requests came with the warm-up. */
export interface Observation {
  /** Seconds from the first request to the opening of the window: the warm-up. */
  opens_s: number;
  /** Seconds from the first request to the closing of the window. */
  closes_s: number;
  /** Requests a second, over all keys. */
  requests_per_second: number;
}

/** The two kinds of a request's keys: those with a quota, as slots of the play, and those that have none left. */
interface Cast {
  slots: readonly number[];
  exhausted: boolean;
}

function castOf(profile: TrafficProfile): { cast: Cast[]; slots: number; shares: Float64Array } {
  const { requests, shares } = profile.population();
  const slotOf = new Map<string, number>();
  const cast = requests.map((descriptors) => {
    const ordinary = descriptors.filter((key) => !key.startsWith(EXHAUSTED_KEY_PREFIX));
    // A key that is asked once needs no slot: every quota admits the first request.
    const counted = ordinary.filter((key) => key !== FRESH_KEY);
    const slots = counted.map((key) => {
      const slot = slotOf.get(key) ?? slotOf.size;
      slotOf.set(key, slot);
      return slot;
    });
    return { slots, exhausted: ordinary.length < descriptors.length };
  });
  return { cast, slots: slotOf.size, shares };
}

/**
 * The fixed window of one limiter over all slots: a key's first request opens its window, `points` requests are
 * admitted, the rest limited until it ends; the first one too many sets the block, if there is one.
 */
function fixedWindows({ points, window_s, block_s }: Limits, slots: number) {
  const counts = new Float64Array(slots);
  const ends_s = new Float64Array(slots);
  return (slot: number, now_s: number): boolean => {
    if (now_s >= (ends_s[slot] ?? 0)) {
      counts[slot] = 0;
      ends_s[slot] = now_s + window_s;
    }
    const count = (counts[slot] ?? 0) + 1;
    counts[slot] = count;
    if (block_s > 0 && count === points + 1) ends_s[slot] = now_s + block_s;
    return count <= points;
  };
}

/** Some seconds of one core. A longer run is predicted from so many of its first requests. */
const MOST_PLAYED = 20_000_000;
const SEED = 1;

/**
 * Predicts which share of the requests is limited, 0 to 1. Where the quota cannot be used up the profile decides,
 * exactly. Where explicit limits bind, the load is played request for request, evenly spaced in time: a formula
 * for the mean rate of each key would be off by several percentage points for keys that come near their quota.
 * A request with several descriptors is limited when any of them is.
 */
export function predictLimitedShare(profile: TrafficProfile, limits: Limits, seen: Observation): number {
  const { cast, slots, shares } = castOf(profile);
  const asked = Math.floor(seen.closes_s * seen.requests_per_second);
  if (limits.points >= asked) {
    return cast.reduce((total, { exhausted }, index) => total + (exhausted ? (shares[index] ?? 0) : 0), 0);
  }
  const played = Math.min(asked, MOST_PLAYED);
  const opens = Math.min(Math.floor(seen.opens_s * seen.requests_per_second), Math.floor(played / 2));
  const admits = fixedWindows(limits, slots);
  const [stream] = openTraffic(profile, SEED, { connections: 1, first: 0, count: 1 }).streams;
  let limited = 0;
  for (let n = 0; n < played; n++) {
    const request = cast[stream?.next() ?? 0];
    let admitted = request?.exhausted !== true;
    // Every descriptor consumes, whatever the others say.
    for (const slot of request?.slots ?? []) {
      if (!admits(slot, n / seen.requests_per_second)) admitted = false;
    }
    if (n >= opens && !admitted) limited++;
  }
  return limited / (played - opens);
}
