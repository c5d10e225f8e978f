import type { Limits } from "../contract/configuration.js";

/** The `userId`s of one request: one for each descriptor that must be admitted. */
export type Descriptors = readonly [string, ...string[]];

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
  /** Every distinct request, with its share of the traffic; the shares add up to 1. */
  population(): { requests: readonly Descriptors[]; shares: Float64Array };
}
