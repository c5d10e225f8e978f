import type { Histogram } from "hdr-histogram-js";
import type { Bounds, LatencyHistograms, MovableFigure } from "../contract/latency-figures.js";
import type { MeasuredResult } from "../contract/result.js";
import { mergeHistograms } from "./histogram.js";

/** Samples behind a percentile before it is printed unmarked (M18): a hundred beyond it. */
export const MIN_SAMPLES = { p99: 10_000, p99_9: 100_000 } as const;

type Latency = NonNullable<MeasuredResult["latency"]>;

/** Shares of the requests, in thousandths: ranks stay whole numbers. */
export const PERCENTILES = {
  p50: 500,
  p75: 750,
  p90: 900,
  p95: 950,
  p97_5: 975,
  p99: 990,
  p99_9: 999,
} as const;

/**
 * The places at which charts draw the distribution of a run, in thousandths of its requests. They
 * are closer together in the tail.
 */
export const CURVE_THOUSANDTHS: readonly number[] = [
  100, 200, 300, 400, 500, 600, 700, 750, 800, 850, 900, 925, 950, 965, 975, 980, 985, 990, 992.5,
  995, 997, 998, 998.5, 999,
];

/**
 * The accuracy of a recorded latency (M2). Bounds that lie no further apart are shown as one
 * figure.
 */
export const ACCURACY = { ms: 0.05, share: 0.001 } as const;

const toMs = (us: number): number => Math.round(us) / 1000;

/** The latency at a rank, in milliseconds. */
const atRank = (histogram: Histogram, rank: number): number =>
  // Half a rank lower is asked for, because the library would round a rounding error above a whole
  // rank up to the next one.
  toMs(histogram.getValueAtPercentile((100 * (rank - 0.5)) / histogram.totalCount));

function percentileBounds(answers: Histogram, everyone: Histogram, thousandths: number): Bounds {
  const rank = Math.max(1, Math.ceil((thousandths * everyone.totalCount) / 1000));
  return {
    low: atRank(everyone, rank),
    high: rank > answers.totalCount ? null : atRank(answers, rank),
  };
}

/** The upper bound where both bounds are equal within the accuracy, or else undefined. */
function settled({ low, high }: Bounds): number | undefined {
  if (high === null) return undefined;
  return high - low <= Math.max(ACCURACY.ms, ACCURACY.share * high) ? high : undefined;
}

/**
 * The latencies of all answers, and those of all requests with the ages of unanswered ones.
 */
function merged(parts: readonly LatencyHistograms[]): { answers: Histogram; everyone: Histogram } {
  const answered = parts.flatMap(({ allowed, limited }) => [allowed, limited]);
  const others = parts.flatMap(({ failed, censored }) => [failed, censored]);
  return {
    answers: mergeHistograms(answered),
    everyone: mergeHistograms([...answered, ...others]),
  };
}

/**
 * The latency block of a result, in milliseconds with microsecond precision.
 *
 * A request that failed, was lost, timed out or was never sent would have been answered later than
 * its age (M23). A percentile is known if it is the same whether these answers come at their ages
 * or never. Otherwise it is null, between these two bounds. See Klein and Moeschberger, "Survival
 * Analysis" (2003), chapter 3, on right-censored data.
 * @param parts the histograms of all workers or generators
 * @returns undefined without an answer, because a missing latency is not 0 ms
 */
export function latencyBlock(parts: readonly LatencyHistograms[]): Latency | undefined {
  const { answers, everyone } = merged(parts);
  if (answers.totalCount === 0) return undefined;

  const complete = everyone.totalCount === answers.totalCount;
  const bounds: Partial<Record<MovableFigure, Bounds>> = {};
  const figure = (name: MovableFigure, between: Bounds): number | null => {
    const value = settled(between);
    if (value !== undefined) return value;
    bounds[name] = between;
    return null;
  };
  const percentile = (name: keyof typeof PERCENTILES) =>
    figure(name, percentileBounds(answers, everyone, PERCENTILES[name]));
  /** A figure that any single request can move. */
  const movable = (name: "average" | "max", us: number) =>
    figure(name, { low: toMs(us), high: complete ? toMs(us) : null });
  const block = {
    average: movable("average", everyone.mean),
    p50: percentile("p50"),
    p75: percentile("p75"),
    p90: percentile("p90"),
    p95: percentile("p95"),
    p97_5: percentile("p97_5"),
    p99: percentile("p99"),
    p99_9: percentile("p99_9"),
    min: toMs(answers.minNonZeroValue),
    max: movable("max", everyone.maxValue),
    stddev: complete ? toMs(answers.stdDeviation) : null,
  };

  return Object.keys(bounds).length > 0 ? { ...block, bounds } : block;
}

/**
 * The latencies that charts draw, in milliseconds at `CURVE_THOUSANDTHS`, up to the first
 * one that is not known; see `latencyBlock`.
 */
export function latencyCurve(parts: readonly LatencyHistograms[]): number[] {
  const { answers, everyone } = merged(parts);
  if (answers.totalCount === 0) return [];
  const figures: number[] = [];
  for (const thousandths of CURVE_THOUSANDTHS) {
    const value = settled(percentileBounds(answers, everyone, thousandths));
    if (value === undefined) break;
    figures.push(value);
  }
  return figures;
}

/** A figure, or its lower bound where it is not known. */
export const atLeast = (latency: Latency, name: MovableFigure): number =>
  latency[name] ?? latency.bounds?.[name]?.low ?? 0;

/** The percentiles that so many samples do not support (M18). */
export const unsupportedPercentiles = (samples: number): string[] =>
  Object.entries(MIN_SAMPLES).flatMap(([name, needed]) => (samples < needed ? [name] : []));
