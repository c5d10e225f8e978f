import { z } from "zod";
import { countSchema, millisecondsSchema } from "./quantities.js";

/**
 * An HDR histogram V2, compressed by zlib, in base64. Its values are microseconds with 3
 * significant digits.
 */
export const histogramSchema = z.strictObject({
  unit: z.literal("us"),
  encoding: z.literal("hdr-v2-compressed-base64"),
  count: countSchema,
  data: z.string(),
});
export type EncodedHistogram = z.infer<typeof histogramSchema>;

/**
 * Latencies of all answers by outcome, including followed requests. `censored` has the ages of
 * requests without an answer, at the moment when they were given up (timed out, lost, dropped) or
 * when the window closed (never sent).
 */
export const latencyHistogramsSchema = z.strictObject({
  allowed: histogramSchema,
  limited: histogramSchema,
  failed: histogramSchema,
  censored: histogramSchema,
});
export type LatencyHistograms = z.infer<typeof latencyHistogramsSchema>;

/** Figures of a latency block that requests without an answer can move. */
export const movableFigures = [
  "average",
  "p50",
  "p75",
  "p90",
  "p95",
  "p97_5",
  "p99",
  "p99_9",
  "max",
] as const;
export type MovableFigure = (typeof movableFigures)[number];

/**
 * A figure is at least `low` and at most `high` milliseconds; null means that it has no upper
 * bound.
 */
const boundsSchema = z.strictObject({
  low: millisecondsSchema,
  high: millisecondsSchema.nullable(),
});
export type Bounds = z.infer<typeof boundsSchema>;

const figure = millisecondsSchema.nullable();

/**
 * Latency in milliseconds, to the microsecond. A figure that failed or censored requests could move
 * is null, with its bounds in `bounds` (M23). `stddev` is null if there was any such request.
 */
export const latencySchema = z.strictObject({
  average: figure,
  p50: figure,
  p75: figure,
  p90: figure,
  p95: figure,
  p97_5: figure,
  p99: figure,
  p99_9: figure,
  min: millisecondsSchema,
  max: figure,
  stddev: figure,
  /** Bounds of the figures that are null. They are absent where none is. */
  bounds: z.partialRecord(z.enum(movableFigures), boundsSchema).optional(),
});
