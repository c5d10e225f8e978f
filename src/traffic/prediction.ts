import type { Limits } from "../contract/configuration.js";
import { EXHAUSTED_KEY_PREFIX } from "../contract/server-api.js";
import type { TrafficProfile } from "./types.js";

/** The measured window on the time line of the keys, whose first requests came with the warm-up. */
export interface Observation {
  /** Seconds from the first request to the opening of the window: the warm-up. */
  opens_s: number;
  /** Seconds from the first request to the closing of the window. */
  closes_s: number;
  /** Requests a second, over all keys. */
  requests_per_second: number;
}

/**
 * Requests of one key that were limited until `t` seconds after its first one, when it is asked `rate` times a
 * second, evenly: a fixed window opens with a request, admits `points`, and limits the rest until it ends (or
 * until the block ends, which replaces the window once the quota is exceeded).
 */
function limitedUntil(t: number, rate: number, limits: Limits): number {
  const admitting = limits.points / rate;
  if (admitting >= limits.window_s) return 0;
  const length = limits.block_s > 0 ? admitting + limits.block_s : limits.window_s;
  const period = length + 1 / rate;
  const periods = Math.floor(t / period);
  const rest = Math.min(t - periods * period, length);
  return rate * (periods * (length - admitting) + Math.max(0, rest - admitting));
}

/** The share of one key's requests in the observed window that are limited, 0 to 1. */
function limitedShareOfKey(key: string, share: number, limits: Limits, seen: Observation): number {
  if (key.startsWith(EXHAUSTED_KEY_PREFIX)) return 1;
  const rate = share * seen.requests_per_second;
  const asked = rate * (seen.closes_s - seen.opens_s);
  if (asked <= 0) return 0;
  const limited = limitedUntil(seen.closes_s, rate, limits) - limitedUntil(seen.opens_s, rate, limits);
  return Math.min(1, Math.max(0, limited / asked));
}

/**
 * Predicts which share of the requests is limited, 0 to 1: exact where the quota cannot be used up (the profile
 * decides), a fluid model of the fixed window where explicit limits bind. A request with several descriptors is
 * limited when any of them is.
 */
export function predictLimitedShare(profile: TrafficProfile, limits: Limits, seen: Observation): number {
  const { requests, shares } = profile.population();
  const keyShares = new Map<string, number>();
  requests.forEach((descriptors, index) => {
    for (const key of descriptors) keyShares.set(key, (keyShares.get(key) ?? 0) + (shares[index] ?? 0));
  });
  return requests.reduce((total, descriptors, index) => {
    const admitted = descriptors.reduce(
      (chance, key) => chance * (1 - limitedShareOfKey(key, keyShares.get(key) ?? 0, limits, seen)),
      1,
    );
    return total + (shares[index] ?? 0) * (1 - admitted);
  }, 0);
}
