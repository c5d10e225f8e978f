import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { AUTO_WARMUP, type Extent, LEAD_IN_S, type Load } from "../contract/configuration.js";
import { user } from "./population.js";
import type { BindingQuota, TrafficProfile } from "./traffic-types.js";

/** Keys that are offered about 3 times and about half of their quota. They come in this order. */
export const KEYS_ABOVE = 200;
const KEYS_BELOW = 800;
const KEYS = KEYS_ABOVE + KEYS_BELOW;

/**
 * The requests of a key in two windows, in quotas. A key above its quota sends six, and the others
 * send one, so that all together use as many quotas a window as there are keys.
 */
const ABOVE_IN_CYCLE = 6;
const CYCLE_REQUESTS = KEYS_ABOVE * ABOVE_IN_CYCLE + KEYS_BELOW;

/** One request would be a large part of a smaller quota. */
const LEAST_QUOTA = 5;
/** Fewer windows say nothing about a rate. */
const LEAST_WINDOWS = 3;
/** Every request is kept, in 23 bytes. */
export const MOST_REQUESTS = 4_000_000;

const DEFAULT_WINDOW_S = 2;

/** How many quotas a burst sends at once. */
const AT_ONCE = 2;
const BURST_SHARE = 0.25;
const BETWEEN_BURSTS = 3;

/**
 * Returns the quota at a rate. A point takes whole milliseconds, so that limiters that refill in
 * whole points or milliseconds refill evenly.
 */
function quotaAt(rate_per_second: number, window_s: number): number {
  const maxQuota = Math.floor((rate_per_second * window_s) / KEYS + 1e-9);
  for (let quota = Math.min(maxQuota, 1000 * window_s); quota > 0; quota--)
    if ((1000 * window_s) % quota === 0) return quota;
  return 0;
}

const secondsOf = (extent: Extent, rate_per_second: number): number =>
  "duration_s" in extent ? extent.duration_s : extent.requests / rate_per_second;

/** Returns all requests that a run can send, in warm-up, lead-in and window. */
export const mostRequests = (
  rate_per_second: number,
  extent: Extent,
  warmup_s: number | "auto",
): number =>
  Math.ceil(
    rate_per_second *
      (secondsOf(extent, rate_per_second) +
        (warmup_s === "auto" ? AUTO_WARMUP.max_s + LEAD_IN_S : warmup_s)),
  );

function problemWith(
  load: Load,
  extent: Extent,
  window_s: number,
  warmup_s: number | "auto",
): string | undefined {
  if (load.model === "closed") return "it needs an open loop: add --rate, e.g. --rate 5000";
  const { rate_per_second: rate } = load;
  if (quotaAt(rate, window_s) < LEAST_QUOTA) {
    const minRate = (LEAST_QUOTA * KEYS) / window_s;
    return `each of ${KEYS} keys needs a quota of at least ${LEAST_QUOTA} points, which follows from rate and window: give --rate ${Math.ceil(minRate)} or more, or --window ${Math.ceil((LEAST_QUOTA * KEYS) / rate)}`;
  }
  const length_s = secondsOf(extent, rate);
  if (length_s < LEAST_WINDOWS * window_s) {
    const shorter = window_s > 1 ? ", or a shorter --window" : "";
    return `${Number(length_s.toFixed(1))} s are less than ${LEAST_WINDOWS} windows of ${window_s} s: give --duration-mode custom:${LEAST_WINDOWS * window_s} or more${shorter}`;
  }
  const requests = mostRequests(rate, extent, warmup_s);
  if (requests > MOST_REQUESTS)
    return `it keeps every request, ${MOST_REQUESTS} at most, and the run may send ${requests}: give a lower --rate or a shorter --duration-mode`;

  return undefined;
}

const TWO_TO_32 = 4_294_967_296;

/**
 * Returns the requests of about two windows, which repeat. A key above its quota sends a burst of
 * two quotas at once, goes on at twelve times its quota for about half a window, and then sends a
 * few single requests. These open a window somewhere before the next burst, so that bursts meet the
 * edge of a window at every place. The bursts of the keys are spread evenly. A key below its quota
 * sends evenly, so that it never exceeds its quota in any window.
 */
function cycleOf(quota: number, seed: number): Uint16Array {
  const generator = xoroshiro128plus(seed);
  const uniform = () => (generator.next() >>> 0) / TWO_TO_32;
  /** When the key sends, as shares of the cycle, which wrap around. */
  const times = new Float64Array(CYCLE_REQUESTS * quota);
  const keys = new Uint16Array(times.length);
  let position = 0;
  const add = (key: number, time: number) => {
    times[position] = time % 1;
    keys[position++] = key;
  };
  const places = shuffled(KEYS_ABOVE, uniform);

  for (const [key, place] of places.entries()) {
    const begins = (place + uniform()) / KEYS_ABOVE;
    const burst = AT_ONCE * quota;
    for (let index = 0; index < burst; index++) add(key, begins);
    const afterBurst = ABOVE_IN_CYCLE * quota - burst - BETWEEN_BURSTS;
    for (let index = 0; index < afterBurst; index++)
      add(key, begins + (BURST_SHARE * (index + 1)) / afterBurst);
    const silence = 1 - BURST_SHARE;
    for (let index = 0; index < BETWEEN_BURSTS; index++)
      add(key, begins + BURST_SHARE + (silence * (index + uniform())) / BETWEEN_BURSTS);
  }

  for (let key = KEYS_ABOVE; key < KEYS; key++) {
    const phase = uniform();
    for (let index = 0; index < quota; index++) add(key, (index + phase) / quota);
  }

  const order = Uint32Array.from(times, (_, index) => index).sort(
    (a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b,
  );

  return Uint16Array.from(order, (index) => keys[index] ?? 0);
}

function shuffled(size: number, uniform: () => number): number[] {
  const order = Array.from({ length: size }, (_, index) => index);
  for (let last = size - 1; last > 0; last--) {
    const drawn = Math.floor(uniform() * (last + 1));
    [order[last], order[drawn]] = [order[drawn] ?? 0, order[last] ?? 0];
  }
  return order;
}

const binding: BindingQuota = { keysAbove: KEYS_ABOVE, quotaAt, problemWith, cycleOf };

/**
 * Traffic whose quotas bind while the load is on, so that what the limiter admits can be judged key
 * by key (M27).
 */
export const boundary: TrafficProfile = {
  id: "boundary",
  summary:
    "200 users in bursts, at 3 times their quota, and 800 below it; the quota follows from the rate (open loop only)",
  limits: { points: LEAST_QUOTA, window_s: DEFAULT_WINDOW_S, block_s: 0 },
  binding,
  population: () => ({
    requests: Array.from({ length: KEYS }, (_, rank) => user(rank)),
    shares: Float64Array.from(
      { length: KEYS },
      (_, key) => (key < KEYS_ABOVE ? ABOVE_IN_CYCLE : 1) / CYCLE_REQUESTS,
    ),
  }),
};
