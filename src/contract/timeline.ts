import { z } from "zod";

const count = z.int().min(0);
const us = z.int().min(0).nullable();

/**
 * The window in slices of 100 ms; only of a run with faults. Answers count when they arrive. A
 * request that never got an answer counts in the slice in which it was given up, which is up to the
 * request time-out after it was due.
 */
export const timelineSchema = z.strictObject({
  width_ms: z.literal(100),
  opened_at: z.iso.datetime(),
  /** Seconds from the first request of the warm-up to the opening. It is 0 without a warm-up. */
  opens_s: z.number().min(0),
  allowed: z.array(count),
  limited: z.array(count),
  /** Other answers, and requests whose connection ended before the answer. */
  failed: z.array(count),
  /**
   * Requests that were given up without an answer within the time-out or, in an open loop, without
   * a free connection.
   */
  timed_out: z.array(count),
  /**
   * Microseconds of the allowed and limited answers. It is null where none came. In an open loop
   * they count from the intended send (M3).
   */
  p50_us: z.array(us),
  p99_us: z.array(us),
  /**
   * The p99 of the second that begins with the slice. It is null where the window ends within it.
   */
  p99_second_us: z.array(us),
  /**
   * The p99 of the ten seconds before the slice, or of as many as exist. It is null with fewer than
   * three.
   */
  p99_before_us: z.array(us),
  /**
   * Requests that were due by the end of the slice and had neither ended nor been given up; open
   * loop only.
   */
  backlog: z.array(count).optional(),
});
export type Timeline = z.infer<typeof timelineSchema>;
