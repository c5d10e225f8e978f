import { z } from "zod";
import { arrivalsSchema } from "./configuration.js";

const count = z.int().min(0);
const ms = z.number().min(0);

/**
 * The counts of an open loop (M5): offered = sent + dropped + unsent. An unblocked send is late
 * from 1 ms on.
 */
export const scheduleCountsSchema = z.strictObject({
  offered: count,
  sent: count,
  late: count,
  blocked: count,
  /**
   * Sends that were given up because they waited for a connection longer than the time-out of a
   * request.
   */
  dropped: count,
  /** Sends that were still waiting for a free connection when the window closed. */
  unsent: count,
});
export type ScheduleCounts = z.infer<typeof scheduleCountsSchema>;

/**
 * The schedule of an open loop over all generators: what was requested, and how well it was kept.
 */
export const scheduleSchema = z.strictObject({
  rate_per_second: z.number().positive(),
  arrivals: arrivalsSchema,
  ...scheduleCountsSchema.shape,
  achieved_per_second: z.number().min(0),
  /** The lateness of sends that did not wait for a connection. It is absent when there was none. */
  lateness_ms: z.strictObject({ p50: ms, p90: ms, p99: ms, max: ms }).optional(),
  /** Percentiles of latency of which the lateness of sends is more than a tenth. */
  late_percentiles: z.array(z.enum(["p50", "p90", "p99"])),
  /**
   * Time between two sends that follow each other in one worker, with the intended time; absent
   * below two sends.
   */
  gaps_ms: z.strictObject({ intended: ms, p10: ms, p50: ms, p90: ms, p99: ms, max: ms }).optional(),
  /**
   * Whether sends that fall due within half a millisecond share a wake, because no CPU was free.
   */
  shared_wakes: z.boolean(),
});
export type Schedule = z.infer<typeof scheduleSchema>;
