import { z } from "zod";
import { histogramSchema, latencyHistogramsSchema } from "./latency-figures.js";
import { countSchema, millisecondsSchema } from "./quantities.js";
import { countsSchema } from "./request-outcomes.js";
import { scheduleCountsSchema } from "./schedule.js";

/**
 * A physical link of the generator's machine that states its rate, with its bytes in lead-in and
 * window.
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
   * The share of the window in which the worker was ready to run but had no CPU. It is absent where
   * the system does not report it.
   */
  cpu_wait_share: z.number().min(0).max(1).optional(),
});

/**
 * One load generator of a run. The figures of a run come from the merged histograms of its
 * generators.
 */
export const generatorPartSchema = z.strictObject({
  id: z.string(),
  workers: z.array(generatorWorkerSchema).min(1),
  counts: countsSchema,
  window_s: z.number().positive(),
  /**
   * How long after the first window this one opened, by the orchestrator's clock. It is present
   * only with several generators.
   */
  opened_after_ms: z.number().min(0).optional(),
  /** CPU time of the whole generator process in lead-in and window. */
  cpu_us: countSchema,
  resident_bytes: countSchema,
  /**
   * The longest gap between two looks at the clock of a thread that sends (M36). Gaps count from
   * the lead-in to the last answer, or by turns in any turn of the group, in which the process used
   * less than half a CPU. The time in which the thread waited for a CPU is subtracted. It is absent
   * in older results.
   */
  longest_gap_ms: millisecondsSchema.optional(),
  /**
   * The links of the machine. They are absent where the system reports none, as in containers, on
   * most virtual machines, and outside Linux.
   */
  links: z.array(linkSchema).min(1).optional(),
  /**
   * Latencies. They count from the intended send in an open loop, and from the send in a closed
   * loop (M3).
   */
  histograms: latencyHistogramsSchema,
  /** Latencies from the send, without requests that were never sent. Only an open loop has them. */
  service_histograms: latencyHistogramsSchema.optional(),
  /**
   * How an open loop kept its schedule. `lateness` is the time from the intended to the actual
   * send, without sends that waited for a connection. `gaps` is the time between two sends that
   * follow each other in one worker.
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

/** One second of the window. The last one may be shorter. */
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
   * The CPU use of all servers together, like the memory below. The utilisation is that of the
   * busiest server.
   */
  server_cpu_percent: z.number().min(0).optional(),
  server_heap_used_bytes: countSchema.optional(),
  server_resident_bytes: countSchema.optional(),
  server_event_loop_utilisation: z.number().min(0).max(1).optional(),
});
export type Sample = z.infer<typeof sampleSchema>;
