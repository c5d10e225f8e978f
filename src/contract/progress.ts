import { z } from "zod";

const share = z.number().min(0).max(1);

/** One second of the window, live. What has no sample in this second is absent, never 0. */
export const progressSecondShape = {
  /** End of the interval, seconds since the window opened. */
  t_s: z.number().min(0),
  /** Answered requests (allowed and limited); 0 when nothing was answered. */
  requests_per_second: z.number().min(0),
  /** 0 to 1, of the answered requests; absent when nothing was answered. */
  limited_share: share.optional(),
  /** Of the answered requests; absent when nothing was answered. */
  p99_ms: z.number().min(0).optional(),
  /** 0 to 1, of the busiest worker's event loop. From 0.9 on the generator is the bottleneck (M6). */
  generator_event_loop_utilisation: share.optional(),
  /** 0 to 1; this and the CPU are absent for a server that is not ours, and when a reading failed. */
  server_event_loop_utilisation: share.optional(),
  /** Of one core: above 100 when more threads than the event loop's are busy. */
  server_cpu_percent: z.number().min(0).optional(),
} as const;

/** A line of the load generator's progress, one JSON object a line on standard error with PROGRESS=json. */
export const progressSchema = z.discriminatedUnion("event", [
  /** `drained`: no request is in flight and none will be sent for a moment: counters can be read. */
  z.strictObject({ event: z.literal("phase"), phase: z.enum(["warmup", "drained", "measure", "finished"]) }),
  z.strictObject({ event: z.literal("second"), ...progressSecondShape }),
]);
export type Progress = z.infer<typeof progressSchema>;
