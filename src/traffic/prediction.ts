import type { Limits, Load } from "../contract/configuration.js";
import { EXHAUSTED_KEY_PREFIX } from "../contract/server-api.js";
import type { Algorithm } from "../contract/target.js";
import { sum } from "../kit/numbers.js";
import { admissions } from "./admission.js";
import { openTraffic } from "./streams.js";
import { traceTimes } from "./trace.js";
import { FRESH_KEY, type Trace, type TrafficProfile } from "./traffic-types.js";

/** Requests that are spread evenly over a time. */
export interface LoadPhase {
  /** Seconds since the first request. */
  begins_s: number;
  length_s: number;
  requests: number;
  /** Whether the requests begin again, as at the begin of a schedule of a trace. */
  restarts?: boolean;
}

/** Tells whether requests keep the times of a trace. */
export const isReplayed = (load: Load | undefined): boolean =>
  load?.model === "open" && load.arrivals === "trace";

/**
 * Returns the phases of a replay whose schedule begins again: in the first phase that does not
 * begin before.
 */
export function restartedAt(begins_s: number, phases: readonly LoadPhase[]): LoadPhase[] {
  const first = phases.find((phase) => phase.begins_s >= begins_s);
  return phases.map((phase) => (phase === first ? { ...phase, restarts: true } : phase));
}

/** The load of a run over all keys. */
export interface Observation {
  /**
   * Seconds from the first request to the opening of the window, in which lie the warm-up and the
   * pause after it.
   */
  opens_s: number;
  /** All requests until the window closed, in their order. */
  load: readonly LoadPhase[];
  /**
   * Wall-clock time of the first request in seconds, for windows of the wall clock. By default a
   * window begins then.
   */
  began_at_s?: number;
  /** Connections that each go through a trace from another place; by default all share one. */
  connections?: number;
}

/**
 * The keys of a request that have a quota, as slots of the simulation, and whether one has used it
 * up.
 */
type RequestKeys = { slots: readonly number[]; exhausted: boolean };

function requestKeysOf(profile: TrafficProfile): {
  keys: RequestKeys[];
  slots: number;
  shares: Float64Array;
} {
  const { requests, shares } = profile.population();
  const slotOf = new Map<string, number>();
  const keys = requests.map((descriptors) => {
    const ordinary = descriptors.filter((key) => !key.startsWith(EXHAUSTED_KEY_PREFIX));
    // A fresh key needs no slot: every quota admits its only request.
    const counted = ordinary.filter((key) => key !== FRESH_KEY);
    const slots = counted.map((key) => {
      const slot = slotOf.get(key) ?? slotOf.size;
      slotOf.set(key, slot);
      return slot;
    });
    return { slots, exhausted: ordinary.length < descriptors.length };
  });

  return { keys, slots: slotOf.size, shares };
}

/** Tells whether the quota of one key covers all requests. */
export const canNotBeUsedUp = ({ points, cost = 1 }: Limits, requests: number): boolean =>
  points >= requests * cost;

/**
 * A simulation of this many requests takes some seconds of one core. A longer run is predicted from
 * its first ones.
 */
const MAX_SIMULATED = 20_000_000;
const SEED = 1;

/**
 * Returns the predicted share of limited answers, from 0 to 1. Where the quota cannot be used up
 * the profile gives it. Otherwise the load is simulated request by request, because a formula for
 * mean rates would be off by percentage points for keys near their quota.
 * @param algorithm of the limiter
 */
export function predictLimitedShare(
  profile: TrafficProfile,
  limits: Limits,
  seen: Observation,
  algorithm: Algorithm = "fixed window",
): number {
  // Not even a fresh key is admitted.
  if ((limits.cost ?? 1) > limits.points) return 1;
  const { keys, shares } = requestKeysOf(profile);
  const { load } = seen;
  const requests = sum(load.map((phase) => phase.requests));
  if (canNotBeUsedUp(limits, requests))
    return keys.reduce(
      (total, { exhausted }, index) => total + (exhausted ? (shares[index] ?? 0) : 0),
      0,
    );

  const simulated = Math.min(requests, MAX_SIMULATED);
  const requestsBeforeWindow = sum(load.map((phase) => requestsBefore(phase, seen.opens_s)));
  const opens = Math.min(
    requestsBeforeWindow,
    simulated < requests ? Math.floor(simulated / 2) : requests - 1,
  );
  let limited = 0;
  simulate(profile, limits, seen, algorithm, simulated, (admitted, n) => {
    if (n >= opens && !admitted) limited++;
  });

  return limited / (simulated - opens);
}

/**
 * Predicts how many requests are admitted from `from_s` to the end.
 * @param lost_s when all counters are lost
 */
export function predictAdmitted(
  profile: TrafficProfile,
  limits: Limits,
  seen: Observation,
  { from_s, lost_s }: { from_s: number; lost_s?: number },
  algorithm: Algorithm = "fixed window",
): number {
  if ((limits.cost ?? 1) > limits.points) return 0;
  let count = 0;
  const counted = (admitted: boolean, _n: number, at_s: number) => {
    if (admitted && at_s >= from_s) count++;
  };
  simulate(profile, limits, seen, algorithm, MAX_SIMULATED, counted, lost_s);
  return count;
}

/**
 * Decides on the requests of a load in their order.
 * @param lost_s when all counters are lost, in seconds
 */
function simulate(
  profile: TrafficProfile,
  limits: Limits,
  { load, began_at_s = 0, connections = 1 }: Observation,
  algorithm: Algorithm,
  atMost: number,
  decided: (admitted: boolean, n: number, at_s: number) => void,
  lost_s = Number.POSITIVE_INFINITY,
): void {
  const { keys, slots } = requestKeysOf(profile);
  const began_s = began_at_s % limits.window_s;
  const count = profile.trace ? connections : 1;
  const { streams } = openTraffic(profile, SEED, { connections: count, first: 0, count });

  let admits = admissions[algorithm](limits, slots);
  let areLost = false;
  let n = 0;
  for (const phase of load) {
    if (phase.restarts) for (const stream of streams) stream.restart?.();
    const gap_s = phase.length_s / phase.requests;
    for (let sent = 0; sent < phase.requests && n < atMost; sent++, n++) {
      const at_s = phase.begins_s + sent * gap_s;
      if (!areLost && at_s >= lost_s) {
        admits = admissions[algorithm](limits, slots);
        areLost = true;
      }
      const request = keys[streams[n % count]?.next() ?? 0];
      let admitted = request?.exhausted !== true;
      // Every descriptor consumes, whatever the outcome of the others is.
      for (const slot of request?.slots ?? []) {
        if (!admits(slot, began_s + at_s)) admitted = false;
      }
      decided(admitted, n, at_s);
    }
  }
}

function requestsBefore({ begins_s, length_s, requests }: LoadPhase, time_s: number): number {
  const share = length_s > 0 ? (time_s - begins_s) / length_s : Number(time_s > begins_s);
  // The product may be a hair below a whole number.
  return Math.floor(requests * Math.min(1, Math.max(0, share)) + 1e-6);
}

/**
 * Returns the share of limited requests in one pass of a trace at its times, with counters that are
 * empty at first.
 */
export function limitedInTrace(
  { times_ms, keys, summary }: Trace,
  limits: Limits,
  algorithm: Algorithm,
  rate_per_second: number,
): number {
  if ((limits.cost ?? 1) > limits.points) return 1;
  const admits = admissions[algorithm](limits, summary.keys);
  const timeOf = traceTimes(times_ms, rate_per_second);
  let limited = 0;
  for (const [n, key] of keys.entries()) if (!admits(key, timeOf(n) / 1000)) limited++;
  return limited / keys.length;
}
