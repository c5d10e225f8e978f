import type { Limits } from "../../src/contract/configuration.js";
import { EXHAUSTED_KEY_PREFIX } from "../../src/contract/server-api.js";
import { AliasTable, createStreams } from "../../src/traffic/streams.js";
import type { TrafficProfile } from "../../src/traffic/traffic-types.js";

interface Entry {
  used: number;
  ends_s: number;
}

/**
 * rate-limiter-flexible's fixed window, one request at a time: the first request of a key opens a
 * window, each request uses points, those beyond the quota are denied; the first denied one sets
 * the block, if there is one.
 */
export class FixedWindow {
  readonly #limits: Limits;
  readonly #entries = new Map<string, Entry>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @returns whether it is admitted */
  consume(key: string, now_s: number): boolean {
    const { points, window_s, block_s, cost = 1 } = this.#limits;
    let entry = this.#entries.get(key);
    if (!entry || now_s >= entry.ends_s) {
      entry = { used: 0, ends_s: now_s + window_s };
      this.#entries.set(key, entry);
    }
    entry.used += cost;
    if (entry.used <= points) return true;
    if (block_s > 0 && entry.used <= points + cost) entry.ends_s = now_s + block_s;
    return false;
  }
}

/**
 * The share of limited requests in a window of a steady load, by playing it request for request.
 */
export function playedLimitedShare(
  profile: TrafficProfile,
  limits: Limits,
  seen: { opens_s: number; closes_s: number; requests_per_second: number },
  seed: number,
): number {
  const { requests, shares } = profile.population();
  const limiter = new FixedWindow(limits);
  const [stream] = createStreams(new AliasTable(shares), seed, 1, 1);
  let calls = 0;
  let limited = 0;
  for (let n = 0; ; n++) {
    const now_s = n / seen.requests_per_second;
    if (now_s >= seen.closes_s) return limited / calls;
    const [key] = requests[stream?.next() ?? 0] ?? [""];
    const admitted = !key.startsWith(EXHAUSTED_KEY_PREFIX) && limiter.consume(key, now_s);
    if (now_s < seen.opens_s) continue;
    calls++;
    if (!admitted) limited++;
  }
}
