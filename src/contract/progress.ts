import { z } from "zod";

const share = z.number().min(0).max(1);

/** Live figures of one second of the window. A figure without samples is absent, never 0. */
export const progressSecondShape = {
  /** Seconds from the opening of the window to the end of the interval. */
  t_s: z.number().min(0),
  /** Answered requests (allowed and limited). It is 0 when nothing was answered. */
  requests_per_second: z.number().min(0),
  /** Share of limited answers, from 0 to 1. It is absent when nothing was answered. */
  limited_share: share.optional(),
  /** The p99 of the answered requests. It is absent when nothing was answered. */
  p99_ms: z.number().min(0).optional(),
  /**
   * The utilisation of the busiest worker's event loop, from 0 to 1. From 0.9 on the generator may
   * be the bottleneck (M6).
   */
  generator_event_loop_utilisation: share.optional(),
  /**
   * The utilisation of the busiest server's event loop, from 0 to 1. It is absent, like the CPU,
   * for a server that is not ours and when a reading failed.
   */
  server_event_loop_utilisation: share.optional(),
  /** Percent of one core; above 100 when several threads are busy. */
  server_cpu_percent: z.number().min(0).optional(),
} as const;

/** The moments at which no request is in flight, so that counters can be read. */
export const readingPhases = ["connected", "drained", "finished"] as const;
export type ReadingPhase = (typeof readingPhases)[number];

/**
 * One of several generators has come to a moment at which it waits until all have. Nothing is read.
 */
export const WAITING = "waiting";
/**
 * When targets take turns, each second of turns of every target has ended, and no target has the
 * load until the counters are read.
 */
export const BETWEEN_TURNS = "between turns";
/** When targets take turns, the warm-up has ended, and a long turn of each target follows (M33). */
export const BEFORE_LONG_TURNS = "before long turns";
/**
 * The turn of a run of a load curve begins, or has ended. No target has the load. Only the generator
 * that gives the turn announces it, with the index of the run in its `GroupSpec`, and waits alone
 * until its own input says that the counters are read.
 */
export const TURN_BEGINS = "turn begins";
export const TURN_ENDED = "turn ended";
export type TurnPhase = typeof TURN_BEGINS | typeof TURN_ENDED;

/**
 * What a generator announces and then waits for. All generators of a run announce the same, in the
 * same order.
 */
export type AnnouncedPhase =
  | ReadingPhase
  | typeof WAITING
  | typeof BETWEEN_TURNS
  | typeof BEFORE_LONG_TURNS;
/**
 * The warm-up of one of several generators, or the part of it as a closed loop, may end. It goes on
 * until that of all may end.
 */
export const STEADY = "steady";

/**
 * The line on a generator's standard input that lets it go on, because all have announced the phase
 * and the counters are read.
 */
export const READ_LINE = "read";
/** The line that ends the warm-up of all generators. */
export const ALL_STEADY_LINE = "steady";

/**
 * One line of the load generator's progress. With PROGRESS=json it is a JSON object on standard
 * error.
 */
export const progressSchema = z.discriminatedUnion("event", [
  z.strictObject({
    event: z.literal("phase"),
    phase: z.enum([
      ...readingPhases,
      WAITING,
      BETWEEN_TURNS,
      BEFORE_LONG_TURNS,
      TURN_BEGINS,
      TURN_ENDED,
      "warmup",
      STEADY,
      "measure",
    ]),
    /** Milliseconds until the window opens, after its lead-in. Only the phase `measure` has it. */
    opens_in_ms: z.number().min(0).optional(),
    /** The index of the run whose turn begins or has ended. Only these two phases have it. */
    run: z.int().min(0).optional(),
  }),
  z.strictObject({
    event: z.literal("second"),
    run: z.int().min(0).optional(),
    ...progressSecondShape,
  }),
  /**
   * A turn that came from the input has ended, and nothing is in flight. It has the answers in its
   * slice, and those that followed.
   */
  z.strictObject({
    event: z.literal("turn"),
    answers: z.int().min(0),
    followed: z.int().min(0),
    /** The summed latency of the answers and the followed requests. */
    latency_sum_us: z.number().min(0),
    took_ms: z.number().min(0),
    /** Requests in its lead-in and slice, and the generator's CPU time for them. */
    requests: z.int().min(0),
    cpu_us: z.number().min(0),
  }),
]);
export type Progress = z.infer<typeof progressSchema>;
