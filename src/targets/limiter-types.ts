import { z } from "zod";
import type { Limits } from "../contract/configuration.js";
import { packageVersionSchema } from "../contract/library-versions.js";
import { functionOf, lineSchema, type Shaped } from "../contract/plugins.js";
import type { Consumes, LimiterScript } from "../contract/server-api.js";
import { algorithms, idSchema } from "../contract/target.js";
import type { ClientDescription, VariedClient } from "./client-types.js";
import type { Libraries } from "./libraries.js";
import { commandNames } from "./member-lists.js";
import type { OpenClient } from "./open-client.js";

/**
 * What the limiter decided on one descriptor or, for a whole request, its most restrictive
 * decision.
 */
export type Decision =
  | { outcome: "allowed" }
  | { outcome: "limited"; limit: number; remaining: number; msBeforeNext: number }
  | { outcome: "failed"; error: Error };

export type DecisionCounts = Record<Decision["outcome"], number>;

/** Decides on one key. It never rejects, because the outcome is `failed` when the store fails. */
export interface Limiter {
  /**
   * @param cost points that the request uses; other values than 1 only where
   *   `LimiterDescription.takesCost`
   */
  consume(key: string, cost?: number): Promise<Decision>;
  /**
   * How many of its promises were settled with each outcome. Optional: without it the harness
   * counts, which costs a promise per consume.
   */
  readonly decisions?: Readonly<DecisionCounts>;
  /**
   * How many commands its consumes sent to the store. A limiter without this member sends one for
   * each consume.
   */
  readonly commands?: number | undefined;
  /**
   * How many of its decisions it made without the store, because the store failed. A limiter
   * without this member makes none.
   */
  readonly withoutStore?: number | undefined;
}

/**
 * Decides on requests: one call with all descriptors where the system has that, else one call for
 * each.
 */
export interface RequestLimiter {
  /**
   * Decides on the descriptors of one request and counts the decisions. A key that begins with
   * `EXHAUSTED_KEY_PREFIX` has a used-up quota. Never rejects.
   * @param keys one key, or all of them
   * @returns the most restrictive decision; a failure outweighs a denial, because then the overall
   *   decision is unknown
   */
  consume(keys: string | readonly string[], cost?: number): Promise<Decision>;
  /** The consumes since the start. */
  readonly consumes: Readonly<Consumes>;
  /**
   * Of a limiter that its users install as a plugin: the server uses its hook, whose decisions are
   * in `consumes`, too.
   */
  readonly hook?: InstallableHook | undefined;
}

/** The members of a request that a hook tells its key from, in every framework. */
export type HookedRequest = { readonly query: unknown; readonly ip?: string | undefined };

/** What a limiter that decides in a hook of the web framework is told, and tells. */
export interface LimiterHook {
  /** The library tells clients by its own default, not by `keyOf`, which is called all the same. */
  byAddress?: true;
  /**
   * The key of a request.
   * @throws an error with a status code for a request without a valid key
   */
  keyOf(request: HookedRequest): string;
  /** Is called once for each decision, before the handler runs. */
  decided(request: HookedRequest, outcome: "allowed" | "limited"): void;
}

/**
 * Adds the hook of a limiter to the routes that are added afterwards to this application of its
 * framework.
 */
// biome-ignore lint/suspicious/noExplicitAny: each framework has a type of its own
export type InstallHook = (app: any, hook: LimiterHook) => Promise<unknown>;

/** The hook of a limiter that its users install as a plugin of the framework. */
export interface InstallableHook {
  install: InstallHook;
  /** Is called for a request on which the hook could not decide. */
  failed(): void;
}

/** What the project's own limiters and those of plugins have. */
export const limiterShape = {
  id: idSchema,
  package: z.string().optional(),
  /**
   * The library that is installed when the limiter is first used, and loaded from there. It is
   * absent where the project, or the plugin, has it.
   */
  onDemand: packageVersionSchema.optional(),
  /** Id of the web framework that its hook is for. It is absent where it decides in any. */
  framework: idSchema.optional(),
  /** One line that says what decides, and how. */
  summary: lineSchema.optional(),
  /**
   * The algorithm that predicts the share of limited requests (M10). It defaults to a fixed window.
   */
  algorithm: z.enum(algorithms).optional(),
  /** Whether concurrent requests can never be admitted beyond the quota. */
  atomic: z.boolean().optional(),
  /** Stores on which it is not, although it is elsewhere. */
  notAtomicOn: z.array(idSchema, "must be a list of ids").min(1).readonly().optional(),
  /**
   * The commands that carry its decisions, as the store's statistics name them (`INFO
   * commandstats`, `cmd_…` of memcached). By default the commands that run a script count.
   */
  decisionCommands: commandNames.optional(),
  /**
   * Why no key can be exhausted at the cost of an ordinary decision; then it only takes traffic
   * that is all admitted.
   */
  cannotExhaust: lineSchema.optional(),
  /**
   * A client with this limiter instead of its own, or the reason why it does not support it. Absent
   * for a limiter that no client can choose: then a client's description names it.
   */
  applyTo: functionOf<(client: ClientDescription, topology: string) => VariedClient>().optional(),
  /** Whether a request may cost more than one point. */
  takesCost: z.boolean().optional(),
  /**
   * The store's key that holds, as a whole number, the points that a key has consumed in its
   * window, denied ones included. It is absent for a limiter that keeps no such number.
   */
  countKey: functionOf<(key: string, keyPrefix: string) => string>().optional(),
  /**
   * Why it cannot keep these limits, as the reason of a skip. It is absent for a limiter that can
   * keep any.
   */
  unsupportedReason: functionOf<(limits: Limits) => string | undefined>().optional(),
  /** @deprecated The former name of `unsupportedReason`. */
  lacks: functionOf<(limits: Limits) => string | undefined>().optional(),
  /**
   * Makes the limiter on a client. A system that takes one key per call gives a pair: `standard`
   * with the given limits, and `exhausted` with 0 points at the same cost for the store. A system
   * that takes all descriptors of a request in one call gives a `RequestLimiter`, and one that
   * admits all gives undefined. When it resolves, scripts are loaded and no key is left in the
   * store. `libraries` says where the limiter's library is loaded from.
   */
  create:
    functionOf<
      (
        client: OpenClient,
        description: ClientDescription,
        limits: Limits,
        keyPrefix: string,
        libraries: Libraries,
      ) => Promise<LimiterPair | (RequestLimiter & LimiterIdentity) | undefined>
    >(),
};

export interface LimiterDescription extends Shaped<typeof limiterShape> {
  /**
   * The call that decides on one key, whatever the protocol. It is absent where a library makes it.
   * A key that begins with `EXHAUSTED_KEY_PREFIX` has a used-up quota.
   */
  callOf?(key: string, limits: Limits, run: { nonce: string; keyPrefix: string }): object;
}

export interface LimiterIdentity {
  /** The version of the limiter's library. */
  version?: string;
  /** The script that decides. It is absent for a limiter without a script. */
  script?: LimiterScript;
}

export interface LimiterPair extends LimiterIdentity {
  install?: InstallHook;
  standard: Limiter;
  exhausted: Limiter;
}
