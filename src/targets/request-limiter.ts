import { EXHAUSTED_KEY_PREFIX } from "../contract/server-api.js";
import type { Decision, LimiterFacts, LimiterPair, RequestLimiter } from "./types.js";

/** Calls and decisions since the start. */
class Counts {
  calls = 0;
  allowed = 0;
  limited = 0;
  failed = 0;
}

/** All descriptors must be admitted. A failure outweighs a denial, because then the overall decision is unknown. */
export function mostRestrictive(decisions: readonly Decision[]): Decision {
  let worst: Decision = { outcome: "allowed" };
  for (const decision of decisions) {
    if (decision.outcome === "failed") return decision;
    if (decision.outcome === "allowed") continue;
    if (worst.outcome !== "limited" || decision.msBeforeNext > worst.msBeforeNext) worst = decision;
  }
  return worst;
}

/** Decides on requests with limiters that take one key per call: one call for each descriptor. */
class PairedRequestLimiter implements RequestLimiter {
  readonly consumes = new Counts();
  readonly #pair: LimiterPair;
  /** Created once, so that a request with one key creates no closure. */
  readonly #counted = (decision: Decision): Decision => {
    this.consumes[decision.outcome]++;
    return decision;
  };

  constructor(pair: LimiterPair) {
    this.#pair = pair;
  }

  consume(keys: string | readonly string[], cost?: number): Promise<Decision> {
    if (typeof keys === "string") return this.#ask(keys, cost).then(this.#counted);
    return Promise.all(keys.map((key) => this.#ask(key, cost).then(this.#counted))).then(mostRestrictive);
  }

  #ask(key: string, cost: number | undefined): Promise<Decision> {
    this.consumes.calls++;
    const { standard, exhausted } = this.#pair;
    return key.startsWith(EXHAUSTED_KEY_PREFIX) ? exhausted.consume(key, cost) : standard.consume(key, cost);
  }
}

/** What a limiter's `create` gives, as a limiter of requests. */
export function asRequestLimiter(
  created: LimiterPair | (RequestLimiter & LimiterFacts),
): RequestLimiter & LimiterFacts {
  if (!("standard" in created)) return created;
  const { standard: _standard, exhausted: _exhausted, ...facts } = created;
  return Object.assign(new PairedRequestLimiter(created), facts);
}
