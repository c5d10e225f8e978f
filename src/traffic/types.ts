import type { Limits } from "../contract/configuration.js";

/** The `userId`s of one request: one for each descriptor that must be admitted. */
export type Descriptors = readonly [string, ...string[]];

/**
 * A descriptor of this form is a key that was never seen before: the digits give way to a number that no other
 * request of the run has. Its length is fixed, so that requests can be prepared.
 */
export const FRESH_KEY_PREFIX = "fresh-";
export const FRESH_KEY_DIGITS = 16;
export const FRESH_KEY = FRESH_KEY_PREFIX + "0".repeat(FRESH_KEY_DIGITS);

/** An endless sequence of requests, as indexes into the population. */
export interface RequestStream {
  next(): number;
}

/**
 * Which keys the requests carry and which outcome they meet. Pure: the same seed gives the same requests.
 * One file in `profiles/`, one line in the list.
 */
export interface TrafficProfile {
  id: string;
  /** One line for `--help` and the report. */
  summary: string;
  /** Quota under which the outcome mix depends on the keys alone, never on the client's speed (M10). */
  limits: Limits;
  /** `random` (default): drawn by their shares. `sequential`: one after the other, round and round. */
  order?: "random" | "sequential";
  /** Every distinct request, with its share of the traffic; the shares add up to 1. */
  population(): { requests: readonly Descriptors[]; shares: Float64Array };
}
