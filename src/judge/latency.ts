import type { Histogram } from "hdr-histogram-js";
import { MIN_SAMPLES } from "../contract/min-samples.js";
import type { MeasuredResult } from "../contract/result.js";

type Latency = NonNullable<MeasuredResult["latency"]>;

const toMs = (us: number): number => Math.round(us) / 1000;

/**
 * The latency block of a result, in milliseconds with microsecond precision.
 * @param histogram microseconds
 * @returns undefined for an empty histogram, because a missing latency is not 0 ms
 */
export function latencyBlock(histogram: Histogram): Latency | undefined {
  if (histogram.totalCount === 0) return undefined;
  const at = (percentile: number) => toMs(histogram.getValueAtPercentile(percentile));
  return {
    average: toMs(histogram.mean),
    p50: at(50),
    p75: at(75),
    p90: at(90),
    p95: at(95),
    p97_5: at(97.5),
    p99: at(99),
    p99_9: at(99.9),
    min: toMs(histogram.minNonZeroValue),
    max: toMs(histogram.maxValue),
    stddev: toMs(histogram.stdDeviation),
  };
}

/** The percentiles with too few samples. @param samples answers in the histogram */
export function unsupportedPercentiles(samples: number): string[] {
  return Object.entries(MIN_SAMPLES).flatMap(([name, needed]) => (samples < needed ? [name] : []));
}
