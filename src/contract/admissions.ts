import { z } from "zod";

const count = z.int().min(0);

/** How often each distinct request was sent since the start, and how often its fate is unknown. */
export const requestCountsSchema = z.strictObject({
  sent: z.array(count),
  undecided: z.array(count),
});
export type RequestCounts = z.infer<typeof requestCountsSchema>;

const range = { least: count, most: count, counted: count };

/**
 * Whether the store counted, key by key, what the load consumed from the warm-up to the last answer
 * (M27).
 */
export const admissionsSchema = z.discriminatedUnion("status", [
  z.strictObject({
    status: z.literal("counted"),
    keys: count,
    points: z.strictObject(range),
    /** Keys whose count lies outside of its bounds, by direction: lost and surplus consumes. */
    below: count,
    above: count,
    /** The key that is furthest off. It is absent where none is. */
    worst: z.strictObject({ key: z.string(), ...range }).optional(),
  }),
  z.strictObject({ status: z.literal("not known"), reason: z.string() }),
]);
export type Admissions = z.infer<typeof admissionsSchema>;
