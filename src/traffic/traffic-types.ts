import { z } from "zod";
import { type Extent, type Load, limitsSchema, type Warmup } from "../contract/configuration.js";
import { functionOf, lineSchema, type Shaped, type TraceSummary } from "../contract/plugins.js";
import { idSchema } from "../contract/target.js";

/** The `userId`s of one request, all of which must be admitted. */
export type Descriptors = readonly [string, ...string[]];

/**
 * The prefix of a new key. A number that no other request has replaces its digits, at a fixed
 * length.
 */
export const FRESH_KEY_PREFIX = "fresh-";
export const FRESH_KEY_DIGITS = 16;
export const FRESH_KEY = FRESH_KEY_PREFIX + "0".repeat(FRESH_KEY_DIGITS);

/** An endless sequence of requests, as indexes into the population. */
export interface RequestStream {
  next(): number;
  /** Begins again with its first request. It is absent where requests are drawn. */
  restart?(): void;
}

/** A quota that follows from the load, so that it binds while the load is on. */
export interface BindingQuota {
  /**
   * The first so many requests of the population have the keys that are offered more than their
   * quota.
   */
  keysAbove: number;
  /**
   * Returns how many requests a key may make in a window. It is 0 where the rate is too low for
   * any.
   */
  quotaAt(rate_per_second: number, window_s: number): number;
  /**
   * Returns why the profile cannot be used so, with what would help. It is undefined where it can.
   */
  problemWith(load: Load, extent: Extent, window_s: number, warmup_s: Warmup): string | undefined;
  /** Returns the requests of a cycle in their order, as indexes into the population. */
  cycleOf(quota: number, seed: number): Uint16Array;
}

/**
 * Requests that were seen somewhere, in the order of time. Keys are numbers alone, so that nothing
 * here can name one.
 */
export interface Trace {
  summary: TraceSummary;
  /**
   * Milliseconds since the first request. The array is shared, so that each thread sees it without
   * a copy.
   */
  times_ms: Float64Array<SharedArrayBuffer>;
  /** The key of each request, numbered by first appearance. */
  keys: Uint32Array<SharedArrayBuffer>;
}

/** The members of a traffic profile, of the project or of a plugin. */
export const trafficShape = {
  id: idSchema,
  /** One line for `--help` and the report. */
  summary: lineSchema,
  /** Quota with which the outcomes depend on the keys alone, not on the client's speed (M10). */
  limits: limitsSchema,
  /**
   * How requests follow each other. With `random` (the default) they are drawn by their shares.
   * With `sequential` they follow in a cycle.
   */
  order: z.enum(["random", "sequential"]).optional(),
  /** The distinct requests and their shares of the traffic, which add up to 1. */
  population: functionOf<() => { requests: readonly Descriptors[]; shares: Float64Array }>(),
};

/**
 * Which keys the requests carry, and which outcome they meet. It is pure, so that the same seed
 * gives the same requests. A profile is one entry in `profiles.ts`.
 */
export interface TrafficProfile extends Shaped<typeof trafficShape> {
  /**
   * The quota of a profile whose quota binds. It replaces the points of `limits`, and the order.
   */
  binding?: BindingQuota;
  /** The requests of a profile that were seen somewhere. They replace the order. */
  trace?: Trace;
}
