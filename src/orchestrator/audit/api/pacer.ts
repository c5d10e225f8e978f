import { setTimeout as delay } from "node:timers/promises";

const MINUTE_MS = 60_000;

/** Says that the requests of `--max-requests` are used up. */
export class OutOfRequests extends Error {
  override readonly name = "OutOfRequests";
}

/** Keeps an audit within the requests that it may send, in all, in any minute and at once. */
export class Pacer {
  readonly #limits: { requestsPerMinute: number; maxRequests: number; atOnce: number };
  readonly #now: () => number;
  /** The moments of the requests of the last minute, in their order. */
  #moments: number[] = [];
  #sent = 0;
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    limits: { requestsPerMinute: number; maxRequests: number; atOnce: number },
    now = () => performance.now(),
  ) {
    this.#limits = limits;
    this.#now = now;
  }

  /** The requests that were sent in all. */
  get sent(): number {
    return this.#sent;
  }

  /**
   * How long the next request must wait, in ms, so that no minute has too many of them.
   */
  wait_ms(): number {
    const now = this.#now();
    this.#moments = this.#moments.filter((moment) => moment > now - MINUTE_MS);
    const { requestsPerMinute } = this.#limits;
    if (this.#moments.length < requestsPerMinute) return 0;
    const oldest = this.#moments[this.#moments.length - requestsPerMinute] ?? now;
    return oldest + MINUTE_MS - now;
  }

  /**
   * Makes a request as soon as it is allowed.
   * @throws OutOfRequests; the reason of the signal
   */
  async paced<Value>(signal: AbortSignal, request: () => Promise<Value>): Promise<Value> {
    await this.#place();
    try {
      for (let wait = this.wait_ms(); wait > 0; wait = this.wait_ms())
        await delay(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
      signal.throwIfAborted();
      if (this.#sent >= this.#limits.maxRequests)
        throw new OutOfRequests(
          `the ${this.#limits.maxRequests} requests of --max-requests are used up`,
        );

      this.#sent++;
      this.#moments.push(this.#now());
      return await request();
    } finally {
      this.#leave();
    }
  }

  /** Waits until fewer requests than allowed at once are on their way. */
  async #place(): Promise<void> {
    if (this.#inFlight < this.#limits.atOnce) {
      this.#inFlight++;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Hands the place to the request that waits longest, if any does. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inFlight--;
  }
}
