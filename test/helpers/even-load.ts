import type { Observation } from "../../src/traffic/prediction.js";

/** A load of one rate, in seconds since the first request. */
export interface EvenLoad {
  /** When the window opens. */
  opens_s: number;
  closes_s: number;
  requests_per_second: number;
  began_at_s?: number;
}

/** Rounded: the product of a rate and its time may be a hair below the whole number of requests. */
export const evenly = ({
  opens_s,
  closes_s,
  requests_per_second,
  ...rest
}: EvenLoad): Observation => ({
  opens_s,
  load: [{ begins_s: 0, length_s: closes_s, requests: Math.round(closes_s * requests_per_second) }],
  ...rest,
});
