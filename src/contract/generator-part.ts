import { z } from "zod";
import { histogramSchema, latencyHistogramsSchema } from "./latency-figures.js";
import { countSchema, millisecondsSchema } from "./quantities.js";
import { countsSchema } from "./request-outcomes.js";
import { scheduleCountsSchema } from "./schedule.js";

/**
 * A physical link of the generator's machine that states its rate, and the bytes on it in lead-in
 * and window.
 */
const linkSchema = z.strictObject({
  name: z.string(),
  bits_per_second: z.number().positive(),
  received_bytes: countSchema,
  sent_bytes: countSchema,
});
export type NetworkLink = z.infer<typeof linkSchema>;

const generatorWorkerSchema = z.strictObject({
  connections: z.int().min(1),
  counts: countsSchema,
  event_loop_utilisation: z.number().min(0).max(1),
  /**
   * 0 to 1: share of the window in which it was ready to run but had no CPU. Absent if the system
   * does not report it.
   */
  cpu_wait_share: z.number().min(0).max(1).optional(),
});

/**
 * One load generator. A run has one or more; the figures of the run come from their merged
 * histograms.
 */
export const generatorPartSchema = z.strictObject({
  id: z.string(),
  workers: z.array(generatorWorkerSchema).min(1),
  counts: countsSchema,
  window_s: z.number().positive(),
  /**
   * Only of several generators: how long after the first window this one opened, by the
   * orchestrator's clock.
   */
  opened_after_ms: z.number().min(0).optional(),
  /** CPU time of the whole generator process in lead-in and window. */
  cpu_us: countSchema,
  resident_bytes: countSchema,
  /**
   * The longest gap between two looks of a thread that sends at its clock, from the lead-in to the
   * last answer, in which the process used less than half a CPU, without the time in which the
   * thread waited for a CPU (M36); by turns the longest in a turn of its group. Absent in older
   * results.
   */
  longest_gap_ms: millisecondsSchema.optional(),
  /**
   * Absent where the system reports none: in containers, on most virtual machines, and outside
   * Linux.
   */
  links: z.array(linkSchema).min(1).optional(),
  /** In an open loop from the intended send, in a closed loop from the send (M3). */
  histograms: latencyHistogramsSchema,
  /** Open loop only: from the send. Requests that were never sent are not in it. */
  service_histograms: latencyHistogramsSchema.optional(),
  /**
   * Open loop only. `lateness`: time from the intended to the actual send, of the sends that did
   * not wait for a connection. `gaps`: time between two sends that follow each other in one worker.
   */
  schedule: z
    .strictObject({
      ...scheduleCountsSchema.shape,
      lateness: histogramSchema,
      gaps: histogramSchema,
      shared_wakes: z.boolean(),
    })
    .optional(),
});
export type GeneratorPart = z.infer<typeof generatorPartSchema>;

/** One second of the measured window (the last one may be shorter). */
export const sampleSchema = z.strictObject({
  t_s: z.number().positive(),
  interval_s: z.number().positive(),
  allowed: countSchema,
  limited: countSchema,
  failed: countSchema,
  p50_ms: millisecondsSchema.optional(),
  p99_ms: millisecondsSchema.optional(),
  generator_event_loop_utilisation: z.number().min(0).max(1).optional(),
  /**
   * The usage of all servers together, like the two below; the utilisation is that of the busiest.
   */
  server_cpu_percent: z.number().min(0).optional(),
  server_heap_used_bytes: countSchema.optional(),
  server_resident_bytes: countSchema.optional(),
  server_event_loop_utilisation: z.number().min(0).max(1).optional(),
});
export type Sample = z.infer<typeof sampleSchema>;
