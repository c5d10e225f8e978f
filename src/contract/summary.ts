import { z } from "zod";

const figure = z.number().min(0).nullable();
const count = z.int().min(0);

/**
 * One configuration over its runs, as the report's `--summary-json` tells it. Null means that there is no figure,
 * never zero. The report tells more than this: what is not named here is left out.
 */
export const summaryRowSchema = z.object({
  /** Null for a URL that was measured by hand. */
  configuration_hash: z.string().nullable(),
  label: z.string(),
  store: z.string().nullable(),
  topology: z.string().nullable(),
  workload: z.string(),
  traffic: z.string(),
  /** Measures the harness; never ranked with clients. */
  control: z.boolean(),
  /** Recorded runs. */
  runs: count,
  /** Of them measured, verdict valid or suspect. */
  valid_runs: count,
  /** Planned, without a file. */
  missing_runs: count,
  /** Number of the run that the figures are from. */
  median_run: z.int().min(1).nullable(),
  /** Over the valid runs: of the median run, the lowest and the highest. */
  requests_per_second: z.object({ median: z.number(), min: z.number(), max: z.number() }).nullable(),
  /** Of the median run. */
  latency_p50_ms: figure,
  latency_p99_ms: figure,
  /** Of the median run; null where none is valid. */
  verdict: z.string().nullable(),
});
export type SummaryRow = z.infer<typeof summaryRowSchema>;

/** A configuration of an adaptive campaign: how many runs it took, and whether and why it was not run any more. */
export const adaptiveRowSchema = z.object({
  configuration_hash: z.string().nullable(),
  label: z.string(),
  load: z.string(),
  runs: count,
  goes_on: z.boolean(),
  reason: z.string(),
});

/** What a campaign with adaptive runs found. */
export const adaptiveSummarySchema = z.object({
  /** `decided`, `max runs` or `budget`; null while it goes on, or when it was interrupted. */
  ended: z.string().nullable(),
  sentence: z.string(),
  concluded: z.array(z.string()),
  not_concluded: z.array(z.string()),
  configurations: z.array(adaptiveRowSchema),
});
export type AdaptiveSummary = z.infer<typeof adaptiveSummarySchema>;

/** A threshold that was asked of every client, and how one configuration stands to it. */
export const thresholdRowSchema = z.object({
  label: z.string(),
  /** As it was asked, e.g. `p99<10ms`. */
  threshold: z.string(),
  value_text: z.string(),
  /** `held`, `missed`, or no figure. */
  status: z.string(),
});
