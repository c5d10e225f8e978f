import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from "hdr-histogram-js";
import type { EncodedHistogram, LatencyHistograms } from "../contract/latency-figures.js";

/**
 * Creates a histogram of microseconds from 1 up, without an upper limit, with 3 significant digits
 * (error ≤ 0.1 %).
 */
export function createHistogram(): Histogram {
  return build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
    autoResize: true,
    bitBucketSize: 32,
    useWebAssembly: false,
  });
}

export function encodeHistogram(histogram: Histogram): EncodedHistogram {
  return {
    unit: "us",
    encoding: "hdr-v2-compressed-base64",
    count: histogram.totalCount,
    data: encodeIntoCompressedBase64(histogram),
  };
}

/** @throws Error when the data is not a histogram, or its number of values differs from `count` */
export function decodeHistogram(encoded: EncodedHistogram): Histogram {
  const histogram = decodeFromCompressedBase64(encoded.data, 32, false);
  if (histogram.totalCount !== encoded.count)
    throw new Error(`the histogram has ${histogram.totalCount} values instead of ${encoded.count}`);
  return histogram;
}

/**
 * Merges histograms, which is the only correct way to percentiles over several workers or machines
 * (M18).
 */
export function mergeHistograms(encoded: readonly EncodedHistogram[]): Histogram {
  const merged = createHistogram();
  for (const part of encoded) if (part.count > 0) merged.add(decodeHistogram(part));
  return merged;
}

export const byLatencyKind = (
  of: (kind: keyof LatencyHistograms) => EncodedHistogram,
): LatencyHistograms => ({
  allowed: of("allowed"),
  limited: of("limited"),
  failed: of("failed"),
  censored: of("censored"),
});
