import { z } from "zod";
import { requestCountsSchema } from "./admissions.js";
import { limitsSchema } from "./configuration.js";
import { histogramSchema } from "./latency-figures.js";
import { countSchema } from "./quantities.js";
import { measuredResultSchema } from "./result.js";
import { algorithms } from "./target.js";

/** What one of several generators adds to its result, so that they can be merged. */
const shareOutputSchema = z.strictObject({
  opened_at: z.iso.datetime(),
  /**
   * How long after the announced moment the window of the last worker opened, because a process may
   * stand still in between.
   */
  opened_late_ms: z.number().min(0),
  /** Seconds from the first request of the warm-up to the opening. It is 0 without a warm-up. */
  opens_s: z.number().min(0),
  /**
   * The limits that the servers or the limiter reported. They are absent without a limiter, and
   * where another generator read the servers.
   */
  limits: limitsSchema.optional(),
  algorithm: z.enum(algorithms).optional(),
  sample_latencies: z.array(histogramSchema),
  /** The latencies by slice, and what else a timeline counts. Only a run with a timeline has it. */
  timeline: z
    .strictObject({
      latencies: z.array(histogramSchema),
      timed_out: z.array(countSchema),
      dropped: z.array(countSchema),
      due: z.array(countSchema),
    })
    .optional(),
});
export type ShareOutput = z.infer<typeof shareOutputSchema>;

export const generatorOutputSchema = measuredResultSchema.extend({
  /**
   * The requests that were sent since the start. In a load curve each run of a target has those of
   * all of its runs and of its warm-up, because the store's counts of its keys are of the whole
   * round.
   */
  request_counts: requestCountsSchema.optional(),
  share: shareOutputSchema.optional(),
});
export type GeneratorOutput = z.infer<typeof generatorOutputSchema>;

/** What a load generator gives of each run of a group: its result, or why there is none. */
export const groupOutputSchema = z.array(
  z.union([generatorOutputSchema, z.strictObject({ failed: z.string() })]),
);
export type GroupOutput = z.infer<typeof groupOutputSchema>;
