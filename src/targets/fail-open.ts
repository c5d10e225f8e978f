import type { Consumes } from "../contract/server-api.js";
import { ALLOWED, factsOf } from "./request-limiter.js";
import type { Decision, LimiterFacts, RequestLimiter } from "./types.js";

/** How long a request waits for its decision before it is admitted. */
export const FAIL_OPEN_AFTER_MS = 250;

/**
 * Admits a request whose decision failed, or takes longer than `FAIL_OPEN_AFTER_MS`: what the caller of a limiter does
 * whose API must outlive its store (`skipOnError` of @fastify/rate-limit, `passOnStoreError` of express-rate-limit,
 * `failure_mode_deny: false` of Envoy). A denial is never overruled.
 */
class FailOpenLimiter implements RequestLimiter {
  readonly #limiter: RequestLimiter;
  /** Descriptors of the requests that were admitted without a decision; of them those whose decision failed in the end. */
  #opened = 0;
  #openedFailed = 0;

  constructor(limiter: RequestLimiter) {
    this.#limiter = limiter;
  }

  /** A late decision is counted too, so that `without_store` says how far the sum may be off. */
  get consumes(): Consumes {
    const { allowed, failed, without_store = 0, ...rest } = this.#limiter.consumes;
    return {
      ...rest,
      allowed: allowed + this.#opened,
      failed: Math.max(0, failed - this.#openedFailed),
      without_store: without_store + this.#opened,
    };
  }

  consume(keys: string | readonly string[], cost?: number): Promise<Decision> {
    const descriptors = typeof keys === "string" ? 1 : keys.length;
    return new Promise((resolve) => {
      let isOpened = false;
      const open = () => {
        if (isOpened) return;
        isOpened = true;
        this.#opened += descriptors;
        resolve(ALLOWED);
      };
      const timer = setTimeout(open, FAIL_OPEN_AFTER_MS);
      this.#limiter.consume(keys, cost).then((decision) => {
        clearTimeout(timer);
        if (decision.outcome === "failed") {
          open();
          this.#openedFailed += descriptors;
        } else resolve(decision);
      });
    });
  }
}

export const failOpen = (limiter: RequestLimiter & LimiterFacts): RequestLimiter & LimiterFacts =>
  Object.assign(new FailOpenLimiter(limiter), factsOf(limiter));
