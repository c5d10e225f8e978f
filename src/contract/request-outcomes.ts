import { z } from "zod";
import { countSchema } from "./quantities.js";

export const outcomes = ["allowed", "limited", "failed"] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * How requests ended that were in flight when the window closed. They are in the latency, but not
 * in the throughput (M23).
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
 * All sent requests by what became of them in the window (M8). The sum of allowed, limited,
 * failed_answers, connection_errors, timed_out, followed and cut is the number of sent requests.
 */
export const countsSchema = z.strictObject({
  sent: countSchema,
  allowed: countSchema,
  limited: countSchema,
  failed_answers: countSchema,
  connection_errors: countSchema,
  timed_out: countSchema,
  /**
   * Requests in flight when the window closed, at most one per connection, that were followed to
   * their end.
   */
  followed: countSchema,
  after_window: afterWindowSchema,
  /**
   * Requests in flight when the window closed that were not followed. They are 0 since requests are
   * followed.
   */
  cut: countSchema,
  /**
   * Answers in the window by the driver's code, which is the HTTP status or, at the limiter layer,
   * the outcome.
   */
  by_code: z.record(z.string().regex(/^[0-9a-z_-]{1,40}$/), countSchema),
});
export type Counts = z.infer<typeof countsSchema>;

/**
 * The counts of each 100 ms of the window. The last slice may be shorter. Answers count when they
 * arrive.
 */
export const slicesSchema = z.strictObject({
  width_ms: z.literal(100),
  allowed: z.array(countSchema),
  limited: z.array(countSchema),
  failed: z.array(countSchema),
  /** Sum of the latencies of allowed and limited answers, in microseconds. */
  latency_sum_us: z.array(countSchema),
});
export type Slices = z.infer<typeof slicesSchema>;
