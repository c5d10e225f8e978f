import type { GeneratorEnv } from "../../contract/generator-env.js";
import { rounded } from "../../contract/numbers.js";
import type { Counts, MeasuredResult } from "../../contract/result.js";
import { answered } from "../../judge/counts.js";
import { findProfile } from "../../traffic/lookup.js";
import { predictLimitedShare } from "../../traffic/prediction.js";
import type { ServerReadings } from "./server-readings.js";

/** The share of limited answers may be off by this much (M10). */
const TOLERANCE = 0.01;
/** Sampling allows this many standard deviations more, where answers are few. */
const DEVIATIONS = 4;

/** The share of limited answers to expect under the server's limits; undefined without a limiter. */
export function predictionFor(
  work: GeneratorEnv,
  { health, at_start, at_end }: ServerReadings,
  counts: Counts,
  window_s: number,
): MeasuredResult["prediction"] {
  const total = answered(counts);
  if (!health.limits || total === 0) return undefined;
  const limited_share = predictLimitedShare(findProfile(work.traffic), health.limits, {
    opens_s: work.warmupS,
    closes_s: work.warmupS + window_s,
    requests_per_second: total / window_s,
  });
  const deviation = Math.sqrt((limited_share * (1 - limited_share)) / total);
  const requests = at_end.requests - at_start.requests;
  return {
    limited_share: rounded(limited_share, 6),
    seen_share: rounded(counts.limited / total, 6),
    tolerance: rounded(Math.max(TOLERANCE, DEVIATIONS * deviation), 6),
    // Without a used-up quota the traffic alone decides the outcome.
    basis: health.limits.points >= requests ? "traffic" : "limits",
  };
}
