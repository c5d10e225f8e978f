import type {
  LimiterIdentity,
  LimiterPair,
  RequestLimiter,
} from "../../src/targets/target-types.js";

/** What a limiter that takes one key per call was made of. */
export function pairOf(
  created: LimiterPair | (RequestLimiter & LimiterIdentity) | undefined,
): LimiterPair {
  if (!created || !("standard" in created)) throw new Error("it is no pair of limiters");
  return created;
}
