import { type Consumes, EXHAUSTED_KEY_PREFIX } from "../contract/server-api.js";
import { definedOnly } from "../kit/defined-only.js";
import { grown, totals } from "../kit/numbers.js";
import type {
  Decision,
  DecisionCounts,
  InstallHook,
  Limiter,
  LimiterIdentity,
  LimiterPair,
  RequestLimiter,
} from "./target-types.js";

/** How long a request waits for its decision before it is admitted. */
export const FAIL_OPEN_AFTER_MS = 250;

/**
 * Admits a request whose decision failed, or takes longer than `FAIL_OPEN_AFTER_MS`. The caller of
 * a limiter does this whose API must outlive its store (`skipOnError` of @fastify/rate-limit,
 * `passOnStoreError` of express-rate-limit, `failure_mode_deny: false` of Envoy). A denial is never
 * overruled.
 */
class FailOpenLimiter implements RequestLimiter {
  readonly #limiter: RequestLimiter;
  /**
   * Descriptors of the requests that were admitted without a decision; of them those whose decision
   * failed in the end.
   */
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
      const admit = () => {
        if (isOpened) return;
        isOpened = true;
        this.#opened += descriptors;
        resolve(ALLOWED);
      };
      const timer = setTimeout(admit, FAIL_OPEN_AFTER_MS);
      this.#limiter.consume(keys, cost).then((decision) => {
        clearTimeout(timer);
        if (decision.outcome === "failed") {
          admit();
          this.#openedFailed += descriptors;
        } else resolve(decision);
      });
    });
  }
}

export const failOpen = (
  limiter: RequestLimiter & LimiterIdentity,
): RequestLimiter & LimiterIdentity =>
  Object.assign(new FailOpenLimiter(limiter), limiterIdentityOf(limiter));

export const noDecisions = (): DecisionCounts => ({ allowed: 0, limited: 0, failed: 0 });

export const ALLOWED: Decision = Object.freeze({ outcome: "allowed" });

/** Makes a denial. @param limit the quota reported to the caller */
export const limited = (limit: number, remaining: number, msBeforeNext: number): Decision => ({
  outcome: "limited",
  limit,
  remaining,
  msBeforeNext,
});

export const failed = (error: unknown): Decision => ({
  outcome: "failed",
  error: error instanceof Error ? error : new Error(String(error)),
});

/**
 * All descriptors must be admitted. A failure outweighs a denial, because then the overall decision
 * is unknown.
 */
function moreRestrictive(one: Decision, other: Decision): Decision {
  if (one.outcome === "failed" || other.outcome === "allowed") return one;
  if (other.outcome === "failed" || one.outcome === "allowed") return other;
  return other.msBeforeNext > one.msBeforeNext ? other : one;
}

class CountedLimiter implements Limiter {
  readonly decisions = noDecisions();
  readonly #limiter: Limiter;
  /** Created once, so that a consume creates no closure. */
  readonly #counted = (decision: Decision): Decision => {
    this.decisions[decision.outcome]++;
    return decision;
  };

  constructor(limiter: Limiter) {
    this.#limiter = limiter;
  }

  consume(key: string, cost?: number): Promise<Decision> {
    return this.#limiter.consume(key, cost).then(this.#counted);
  }
}

type CountingLimiter = Limiter & Required<Pick<Limiter, "decisions">>;

const isCounting = (limiter: Limiter): limiter is CountingLimiter =>
  limiter.decisions !== undefined;

const counting = (limiter: Limiter): CountingLimiter =>
  isCounting(limiter) ? limiter : new CountedLimiter(limiter);

/** @returns undefined for what the limiter does not count */
const growth = (before: number | undefined, after = 0): number | undefined =>
  before === undefined ? undefined : after - before;

/** Decides on requests with limiters that take one key per call: one call for each descriptor. */
class PairedRequestLimiter implements RequestLimiter {
  readonly #standard: CountingLimiter;
  readonly #exhausted: CountingLimiter;
  /** The decisions that `create` took, with their commands. */
  readonly #before: DecisionCounts;
  readonly #commandsBefore: number | undefined;
  readonly #withoutStoreBefore: number | undefined;
  #calls = 0;
  readonly #inHook = noDecisions();
  readonly hook: RequestLimiter["hook"];

  constructor({ standard, exhausted, install }: LimiterPair) {
    if (install)
      this.hook = { install: this.#counting(install), failed: () => this.#count("failed") };
    this.#standard = counting(standard);
    this.#exhausted = counting(exhausted);
    this.#before = this.#decided();
    this.#commandsBefore = this.#commands();
    this.#withoutStoreBefore = this.#withoutStore();
  }

  /**
   * Sums up the decisions when it is read, so that the hot path adds to one number for each
   * outcome.
   */
  get consumes(): Consumes {
    return {
      calls: this.#calls,
      ...grown(["allowed", "limited", "failed"], this.#before, this.#decided()),
      ...definedOnly({
        commands: growth(this.#commandsBefore, this.#commands()),
        without_store: growth(this.#withoutStoreBefore, this.#withoutStore()),
      }),
    };
  }

  #counting(install: InstallHook): InstallHook {
    return (app, hook) =>
      install(app, {
        ...hook,
        decided: (request, outcome) => {
          this.#count(outcome);
          hook.decided(request, outcome);
        },
      });
  }

  #count(outcome: Decision["outcome"]): void {
    this.#calls++;
    this.#inHook[outcome]++;
  }

  consume(keys: string | readonly string[], cost?: number): Promise<Decision> {
    if (typeof keys === "string") return this.#ask(keys, cost);
    // Fewer promises than with `Promise.all`, whose list of decisions nobody needs.
    return new Promise((resolve, reject) => {
      let undecided = keys.length;
      let worst = ALLOWED;
      const settle = (decision: Decision): void => {
        worst = moreRestrictive(worst, decision);
        if (--undecided === 0) resolve(worst);
      };
      if (undecided === 0) resolve(worst);
      for (const key of keys) this.#ask(key, cost).then(settle, reject);
    });
  }

  #ask(key: string, cost: number | undefined): Promise<Decision> {
    this.#calls++;
    return key.startsWith(EXHAUSTED_KEY_PREFIX)
      ? this.#exhausted.consume(key, cost)
      : this.#standard.consume(key, cost);
  }

  /** Returns undefined for limiters that send one command for each decision. */
  #commands(): number | undefined {
    const { commands } = this.#standard;
    return commands === undefined ? undefined : commands + (this.#exhausted.commands ?? 0);
  }

  /** Returns undefined for limiters that decide nothing without the store. */
  #withoutStore(): number | undefined {
    const { withoutStore } = this.#standard;
    return withoutStore === undefined
      ? undefined
      : withoutStore + (this.#exhausted.withoutStore ?? 0);
  }

  #decided(): DecisionCounts {
    const parts = [this.#standard.decisions, this.#exhausted.decisions, this.#inHook];
    return totals(["allowed", "limited", "failed"], parts);
  }
}

/** What one call decided on all descriptors of a request. */
export interface Verdict {
  denied: number;
  /** Points that are left where most time is needed. */
  remaining: number;
  msBeforeNext: number;
}

export class OneCallLimiter implements RequestLimiter {
  readonly consumes: Consumes = { calls: 0, allowed: 0, limited: 0, failed: 0 };
  readonly #limit: number;
  readonly #decide: (keys: readonly string[], cost: number) => Promise<Verdict>;

  constructor(limit: number, decide: (keys: readonly string[], cost: number) => Promise<Verdict>) {
    this.#limit = limit;
    this.#decide = decide;
  }

  async consume(keys: string | readonly string[], cost = 1): Promise<Decision> {
    const { consumes } = this;
    const descriptors = typeof keys === "string" ? [keys] : keys;
    consumes.calls++;
    try {
      const { denied, remaining, msBeforeNext } = await this.#decide(descriptors, cost);
      consumes.allowed += descriptors.length - denied;
      consumes.limited += denied;
      return denied === 0 ? ALLOWED : limited(this.#limit, remaining, msBeforeNext);
    } catch (error) {
      consumes.failed += descriptors.length;
      return failed(error);
    }
  }
}

export function asRequestLimiter(
  created: LimiterPair | (RequestLimiter & LimiterIdentity),
): RequestLimiter & LimiterIdentity {
  if (!("standard" in created)) return created;
  const { standard: _standard, exhausted: _exhausted, install: _install, ...identity } = created;
  return Object.assign(new PairedRequestLimiter(created), identity);
}

/** The identity of a limiter that another one takes the place of. */
export const limiterIdentityOf = ({ version, script }: LimiterIdentity): LimiterIdentity =>
  definedOnly({ version, script });

export function withCost(
  limiter: RequestLimiter & LimiterIdentity,
  cost: number | undefined,
): RequestLimiter & LimiterIdentity {
  if (cost === undefined) return limiter;
  return {
    ...limiterIdentityOf(limiter),
    consume: (keys) => limiter.consume(keys, cost),
    get consumes() {
      return limiter.consumes;
    },
  };
}
