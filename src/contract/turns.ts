import { z } from "zod";

/** Length of the parts of a turn: a lead-in that is not counted, and the slice that is. */
export const turnLengthsSchema = z.strictObject({
  lead_in_ms: z.number().min(0).max(60_000),
  slice_ms: z.int().min(100).max(5_000),
});
export type TurnLengths = z.infer<typeof turnLengthsSchema>;

/** How one generator gives the load to the targets of a group by turns (M16). */
export const turnsSchema = z.strictObject({
  /** Of the order of turns. */
  seed: z.int().min(0),
  /** Those that an earlier round has found; absent in the first one, whose warm-up finds them. */
  lengths: turnLengthsSchema.optional(),
});
export type TurnsSpec = z.infer<typeof turnsSchema>;

/** A run's part in a round by turns: what its slices have together is its window. */
export const turnsFactsSchema = z.strictObject({
  /** Targets of the group. */
  group: z.int().min(1),
  /** Turns that this target had. */
  turns: z.int().min(0),
  ...turnLengthsSchema.shape,
  /** Seconds in which requests were followed after its slices. */
  drained_s: z.number().min(0),
  /**
   * Its rate in the second half of the cycles ÷ that in the first, each relative to the other targets in the same cycles;
   * and the standard error of the logarithm. Absent with fewer than eight cycles.
   */
  halves: z.strictObject({ ratio: z.number().positive(), error: z.number().min(0) }).optional(),
});
export type TurnsFacts = z.infer<typeof turnsFactsSchema>;
