import { z } from "zod";

const figure = z.number().min(0).nullable();
const count = z.int().min(0);

/**
 * One configuration over its runs (`--summary-json`). A figure that does not exist is null, never
 * 0.
 */
export const summaryRowSchema = z.object({
  /** Null for a URL that was measured by hand. */
  configuration_hash: z.string().nullable(),
  label: z.string(),
  store: z.string().nullable(),
  topology: z.string().nullable(),
  workload: z.string(),
  traffic: z.string(),
  /** Whether the target measures the harness. It is never ranked with clients. */
  control: z.boolean(),
  runs: count,
  /** Measured runs whose verdict is not invalid. Suspect runs count too. */
  valid_runs: count,
  /**
   * Runs in which the target served its load, and those in which it was overloaded or failed (M24).
   */
  served_runs: count,
  spoiled_runs: count,
  missing_runs: count,
  median_run: z.int().min(1).nullable(),
  /**
   * The median over the runs that count, and the lowest and highest of those that served their
   * load.
   */
  requests_per_second: z
    .object({ median: z.number(), min: z.number(), max: z.number() })
    .nullable(),
  latency_p50_ms: figure,
  latency_p99_ms: figure,
  /**
   * What those are at least that are null because requests without an answer could move them (M23).
   */
  latency_p50_at_least_ms: figure.optional(),
  latency_p99_at_least_ms: figure.optional(),
  verdict: z.string().nullable(),
});
export type SummaryRow = z.infer<typeof summaryRowSchema>;

/** A configuration of an adaptive campaign: its number of runs, and why it goes on or stopped. */
export const adaptiveRowSchema = z.object({
  configuration_hash: z.string().nullable(),
  label: z.string(),
  load: z.string(),
  runs: count,
  goes_on: z.boolean(),
  reason: z.string(),
});

export const adaptiveSummarySchema = z.object({
  /** `decided`, `max runs` or `budget`; null while it is running, or if it was interrupted. */
  ended: z.string().nullable(),
  sentence: z.string(),
  concluded: z.array(z.string()),
  not_concluded: z.array(z.string()),
  configurations: z.array(adaptiveRowSchema),
});
export type AdaptiveSummary = z.infer<typeof adaptiveSummarySchema>;

/** The highest rate at which one target keeps the objectives (M30). Null where it is not known. */
export const maxRateRowSchema = z.object({
  label: z.string(),
  /** Requests/s that half of the trials keep, and its interval of 95 %. */
  estimate_per_second: figure,
  interval: z.object({ low: figure, high: figure }),
  sentence: z.string(),
});

export const thresholdRowSchema = z.object({
  label: z.string(),
  threshold: z.string(),
  value_text: z.string(),
  /** `held` or `missed`. It is another text where there is no figure. */
  status: z.string(),
});
