import { z } from "zod";
import { countSchema } from "./quantities.js";

export const outcomes = ["allowed", "limited", "failed"] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * How requests in flight ended after the window had closed. In latency, but not in throughput
 * (M23).
 */
const afterWindowSchema = z.strictObject({
  allowed: countSchema,
  limited: countSchema,
  failed_answers: countSchema,
  connection_errors: countSchema,
  timed_out: countSchema,
});
export type AfterWindow = z.infer<typeof afterWindowSchema>;

/**
 * All sent requests by what became of them in the window (M8):
 * sent = allowed + limited + failed_answers + connection_errors + timed_out + followed + cut.
 */
export const countsSchema = z.strictObject({
  sent: countSchema,
  allowed: countSchema,
  limited: countSchema,
  failed_answers: countSchema,
  connection_errors: countSchema,
  timed_out: countSchema,
  /** In flight when the window closed, at most one per connection, and followed to their end. */
  followed: countSchema,
  after_window: afterWindowSchema,
  /** In flight when the window closed and not followed: 0 since requests are followed. */
  cut: countSchema,
  /**
   * Answers in the window by the driver's code: the HTTP status, or at the limiter layer the
   * outcome.
   */
  by_code: z.record(z.string().regex(/^[0-9a-z_-]{1,40}$/), countSchema),
});
export type Counts = z.infer<typeof countsSchema>;

/**
 * What each 100 ms of the window counted; the last slice may be shorter. Answers count when they
 * arrive.
 */
export const slicesSchema = z.strictObject({
  width_ms: z.literal(100),
  allowed: z.array(countSchema),
  limited: z.array(countSchema),
  failed: z.array(countSchema),
  /** Sum of the latencies of allowed and limited answers, microseconds. */
  latency_sum_us: z.array(countSchema),
});
export type Slices = z.infer<typeof slicesSchema>;
