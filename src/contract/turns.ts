import { z } from "zod";
import { countSchema } from "./quantities.js";
import { RANGES } from "./ranges.js";

/**
 * A window by turns has at least so many cycles (M16), because fewer do not tell a change of level
 * from noise.
 */
export const MIN_CYCLES = 8;

/**
 * The edges of the bins of time since a turn began, in milliseconds (M33). Each bin ends where the
 * next begins, and the last one with the turn.
 */
export const TURN_BIN_EDGES_MS = [0, 20, 100, 200, 500, 1000] as const;

/** What a target did in the bins of `TURN_BIN_EDGES_MS`, over all of its turns. */
const turnBinsSchema = z.strictObject({
  /** The time that its turns spent in each bin. */
  seconds: z.array(z.number().min(0)),
  /** Allowed and limited answers by the moment at which they came. */
  answers: z.array(countSchema),
  /** The summed latency of these answers. */
  latency_sum_us: z.array(z.number().min(0)),
});
export type TurnBinsRecord = z.infer<typeof turnBinsSchema>;

/**
 * The lead-in of a turn of a load curve, in which an open loop already sends at its rate (M3).
 */
export const CURVE_LEAD_IN_MS = 200;
/** The seconds that the slice of a turn of a load curve may last (M3). */
export const CURVE_SLICE_S = { min: 2, max: 60 } as const;

/**
 * The lengths of the two parts of a turn: a lead-in that does not count, and the slice that does.
 */
export const turnLengthsSchema = z.strictObject({
  lead_in_ms: z.number().min(0).max(RANGES["lead-in"].max),
  slice_ms: z
    .int()
    .min(RANGES.slice.min)
    .max(1000 * CURVE_SLICE_S.max),
});
export type TurnLengths = z.infer<typeof turnLengthsSchema>;

/**
 * A long turn, with which the short ones of the window are compared (M33): after its lead-in a target
 * that has idled is itself again.
 */
export const LONG_TURN: TurnLengths = { lead_in_ms: 500, slice_ms: 2_500 };

/**
 * A round has a long turn of each target where the planned window has at least so many seconds of
 * its own turns. So short campaigns do not take twice as long.
 */
const LONG_TURNS_FROM_S = 7;

export const hasLongTurns = (duration_s: number): boolean => duration_s >= LONG_TURNS_FROM_S;

/** How the targets of a group get the load by turns (M16). */
export const turnsSchema = z.strictObject({
  seed: z.int().min(0),
  /**
   * The lengths that an earlier round has found. They are absent in the first round, whose warm-up
   * finds them.
   */
  lengths: turnLengthsSchema.optional(),
  /** The shortest lengths that the warm-up may find. They are absent where the layer has its own. */
  shortest: turnLengthsSchema.optional(),
  /**
   * Whether each target has a generator of its own, which takes a turn at a line of its input. So
   * it is at the limiter layer.
   */
  given: z.literal(true).optional(),
  /** Whether each target has a long turn before the window (M33). */
  long: z.literal(true).optional(),
  /**
   * Whether the runs are those of a load curve. Each run is a target at one load, and has one turn.
   * Runs with equal servers are of one target, and so are all runs of a generator at the limiter
   * layer. They share its connections and its warm-up. The `lengths` are those of every turn.
   */
  curve: z.literal(true).optional(),
});
export type TurnsSpec = z.infer<typeof turnsSchema>;

/** A turn that a line of the input gives. */
export interface GivenTurn extends TurnLengths {
  /**
   * The index of the run among those of the generator, whose load the turn has. It is absent in a
   * warm-up, and where the turns are not those of a load curve.
   */
  run?: number;
}

export const turnLine = ({ lead_in_ms, slice_ms, run }: GivenTurn): string =>
  ["turn", lead_in_ms, slice_ms, ...(run === undefined ? [] : [run])].join(" ");
/** The line after the last turn of the warm-up, or of the window. */
export const LAST_TURN_LINE = "last";

export function turnOf(line: string): GivenTurn | undefined {
  const [, lead_in_ms, slice_ms, run] = /^turn (\S+) (\S+)(?: (\d+))?$/.exec(line.trim()) ?? [];
  const turn = { lead_in_ms: Number(lead_in_ms), slice_ms: Number(slice_ms) };
  const lengths = turnLengthsSchema.safeParse(turn).data;
  return lengths && run !== undefined ? { ...lengths, run: Number(run) } : lengths;
}

/** The part of a run in a round by turns. Its slices together are its window. */
export const turnsRecordSchema = z.strictObject({
  /** The number of targets in the group. */
  group: z.int().min(1),
  /** Whether the run is one of a load curve, and so has one turn. */
  curve: z.literal(true).optional(),
  turns: z.int().min(0),
  ...turnLengthsSchema.shape,
  /** Seconds in which requests were followed after its slices. */
  drained_s: z.number().min(0),
  /**
   * Connections that were opened again from the warm-up on. Those `without_cause` were neither
   * closed by the target nor given up.
   */
  reopened: z.strictObject({ all: z.int().min(0), without_cause: z.int().min(0) }).optional(),
  /**
   * Requests that were due and had not ended when the slice opened, and when it shut (M3). They were
   * in flight or waited for a connection. Only an open loop has them.
   */
  backlog: z.strictObject({ at_open: countSchema, at_shut: countSchema }).optional(),
  /**
   * The target's rate in the second half of the cycles divided by that in the first, each relative
   * to the other targets in the same cycles, with the standard error of the logarithm. It is absent
   * with fewer than eight cycles.
   */
  halves: z.strictObject({ ratio: z.number().positive(), error: z.number().min(0) }).optional(),
  /**
   * The clearest change of the target's level inside the window, relative to the other targets in
   * the same cycles: the rate after it divided by that before, with the standard error of the
   * logarithm. It is absent without one.
   */
  level_change: z
    .strictObject({
      cycles_before: z.int().min(1),
      ratio: z.number().positive(),
      error: z.number().min(0),
    })
    .optional(),
  /**
   * The answers by the time since the turn began (M33), apart for what does not count and what does.
   * No bin has the first `from_ms`, two mean latencies, in which the pipeline fills. It is absent in
   * results that are older than the rule.
   */
  since_began: z
    .strictObject({
      from_ms: z.number().min(0),
      lead_in: turnBinsSchema,
      slice: turnBinsSchema,
    })
    .optional(),
  /**
   * The long turns before the window, whose requests count as those of the warm-up (M33). It is
   * absent where the round had none.
   */
  long: z
    .strictObject({
      turns: countSchema,
      /** Seconds of its long turns, with lead-ins. */
      loaded_s: z.number().min(0),
      /** Requests in them, those of lead-ins included. */
      requests: countSchema,
      lead_in: turnBinsSchema,
      slice: turnBinsSchema,
    })
    .optional(),
});
export type TurnsRecord = z.infer<typeof turnsRecordSchema>;
