/**
 * The first bucket ends at 2^6 µs, each next one at twice that, and the last at 2^23 µs (8.4 s).
 */
const FIRST_EXPONENT = 6;
const BUCKETS = 18;

/**
 * Counts durations in buckets of powers of two. An observation is a few integer instructions and
 * allocates nothing.
 */
export class DurationHistogram {
  /** There is one count more than bounds, for durations beyond the last bound. */
  readonly #counts = new Float64Array(BUCKETS + 1);
  #sumMs = 0;

  observe(ms: number): void {
    this.#sumMs += ms;
    const us = Math.ceil(ms * 1_000);
    // The smallest exponent whose power is not less than the duration.
    const exponent = us <= 1 ? 0 : 32 - Math.clz32(us - 1);
    const bucket = Math.min(Math.max(exponent - FIRST_EXPONENT, 0), BUCKETS);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  read(): { buckets: { le_s: number; count: number }[]; count: number; sum_s: number } {
    let count = 0;
    const buckets: { le_s: number; count: number }[] = [];
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      count += this.#counts[bucket] ?? 0;
      buckets.push({ le_s: 2 ** (FIRST_EXPONENT + bucket) / 1_000_000, count });
    }
    return { buckets, count: count + (this.#counts[BUCKETS] ?? 0), sum_s: this.#sumMs / 1_000 };
  }
}

/**
 * Plain numbers since the start of the server. The hot path adds to them, and `/usage` and
 * `/metrics` read them.
 */
export class Counters {
  requests = 0;
  /**
   * Requests whose handler and consumes are finished, whether or not the client is still connected.
   */
  finished = 0;
  /** Requests that were refused with 429. */
  hits = 0;
  /**
   * The answers of limited routes by status. The keys begin with a letter, because an object with
   * plain numbers as keys is a hash table in V8, which costs 0.2 µs a request.
   */
  readonly answers = { s200: 0, s400: 0, s429: 0, s500: 0, s503: 0 };
  /** Time from the first call of the limiter for a request to its last decision. */
  readonly consumeDuration = new DurationHistogram();

  get inFlight(): number {
    return this.requests - this.finished;
  }
}
