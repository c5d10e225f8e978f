import type { Limits } from "../contract/configuration.js";

/** The `userId`s of one request; all of them must be admitted. */
export type Descriptors = readonly [string, ...string[]];

/**
 * A descriptor of this form stands for a new key: a number that no other request of the run has replaces the digits.
 * Its length is fixed, so that requests can be prepared.
 */
export const FRESH_KEY_PREFIX = "fresh-";
export const FRESH_KEY_DIGITS = 16;
export const FRESH_KEY = FRESH_KEY_PREFIX + "0".repeat(FRESH_KEY_DIGITS);

/** An endless sequence of requests, as indexes into the population. */
export interface RequestStream {
  next(): number;
}

/**
 * Which keys the requests carry, and which outcome they meet. Pure: the same seed gives the same requests. One entry in
 * `profiles.ts`.
 */
export interface TrafficProfile {
  id: string;
  /** One line for `--help` and the report. */
  summary: string;
  /** Quota with which the outcomes depend on the keys alone, not on the client's speed (M10). */
  limits: Limits;
  /** `random` (default): requests are drawn by their shares. `sequential`: one after the other, in a cycle. */
  order?: "random" | "sequential";
  /** The distinct requests and their shares of the traffic, which add up to 1. */
  population(): { requests: readonly Descriptors[]; shares: Float64Array };
}
