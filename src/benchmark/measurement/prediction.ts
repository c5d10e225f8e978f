import { rounded, sum } from "../../contract/numbers.js";
import type { Counts, MeasuredResult } from "../../contract/result.js";
import type { GeneratorSpec } from "../../contract/run-spec.js";
import { answered } from "../../judge/counts.js";
import { findProfile } from "../../traffic/lookup.js";
import { canNotBeUsedUp, predictLimitedShare } from "../../traffic/prediction.js";
import type { ConsumerReadings } from "./consumers.js";

/** The share of limited answers may be off by this much (M10). */
const TOLERANCE = 0.01;
/** Sampling allows this many standard deviations more, where answers are few. */
const DEVIATIONS = 4;

/**
 * The share of limited answers to expect under the limits; undefined without a limiter.
 * @param window its length, and the wall-clock time at which it opened
 */
export function predictionFor(
  { traffic }: Pick<GeneratorSpec, "traffic">,
  { took_s }: Pick<MeasuredResult["warmup"], "took_s">,
  {
    limits,
    algorithm,
    at_start,
    at_end,
  }: Pick<ConsumerReadings, "limits" | "algorithm" | "at_start" | "at_end">,
  counts: Counts,
  window: { took_s: number; opened_at: Date },
): MeasuredResult["prediction"] {
  const total = answered(counts);
  if (!limits || total === 0) return undefined;
  const seen = {
    opens_s: took_s,
    closes_s: took_s + window.took_s,
    requests_per_second: total / window.took_s,
    // As if nothing had come between warm-up and window.
    began_at_s: window.opened_at.getTime() / 1000 - took_s,
  };
  const limited_share = predictLimitedShare(findProfile(traffic), limits, seen, algorithm);
  const deviation = Math.sqrt((limited_share * (1 - limited_share)) / total);
  const requests = sum(at_end.map((usage) => usage.requests)) - sum(at_start.map((usage) => usage.requests));
  return {
    limited_share: rounded(limited_share, 6),
    seen_share: rounded(counts.limited / total, 6),
    tolerance: rounded(Math.max(TOLERANCE, DEVIATIONS * deviation), 6),
    // Without a used-up quota the traffic alone decides the outcome.
    basis: canNotBeUsedUp(limits, requests) ? "traffic" : "limits",
  };
}
