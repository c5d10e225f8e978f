import { z } from "zod";
import { algorithms } from "./target.js";

const count = z.int().min(0);
const figure = z.number().min(0);

/** What the algorithm of a limiter promises of each key. */
export const promiseIds = [
  /** The most that one key was admitted in any window, in quotas. */
  "burst",
  /** The most that one key was admitted a second, over the whole run. */
  "rate",
  /** Admissions beyond what the algorithm can give, of all keys. */
  "over-admission",
  /** Denials that the algorithm cannot give, of all keys. */
  "under-admission",
  /** The admitted share of the first requests after the announced wait. */
  "retry-after-admits",
  /** Requests that were admitted before the announced wait was over. */
  "retry-after-not-before",
] as const;

const promiseSchema = z.strictObject({
  id: z.enum(promiseIds),
  promised: figure,
  seen: figure,
  unit: z.enum(["quotas", "requests/s", "requests", "share"]),
  holds: z.boolean(),
});
export type LimiterPromise = z.infer<typeof promiseSchema>;

/** The requests of some keys that were sent in a window, by their answers. */
const answersSchema = z.strictObject({ admitted: count, limited: count });

/** Requests of all keys that are too many or too few, and the key that has most of them. */
const deviationSchema = z.strictObject({
  total: count,
  keys: count,
  worst: z.strictObject({ key: z.string(), requests: z.int().min(1) }).optional(),
});

/**
 * What each key was admitted while its quota bound (traffic `boundary`), compared with what the
 * limiter's algorithm promises. Requests count by the moment of their send. `above` and `below` are
 * the keys that are offered more and less than their quota.
 */
export const boundarySchema = z.strictObject({
  algorithm: z.enum(algorithms),
  /** How many requests of one key a window admits, which is the points divided by the cost. */
  quota: z.int().min(1),
  window_s: z.int().min(1),
  above: z.strictObject({ keys: count, ...answersSchema.shape }),
  below: z.strictObject({ keys: count, ...answersSchema.shape }),
  /** Requests of which nobody knows whether they were admitted. */
  undecided: count,
  /**
   * The windows of the run one after the other, from its opening. The windows of limiters begin
   * elsewhere.
   */
  windows: z.array(z.strictObject({ above: answersSchema, below: answersSchema })),
  over_admission: deviationSchema,
  under_admission: deviationSchema,
  burst: z.strictObject({ most: count, factor: figure, key: z.string().optional() }),
  /**
   * The admissions per second of each key above its quota. `promised` is the quota divided by the
   * window.
   */
  rate: z.strictObject({
    promised_per_second: figure,
    lowest_per_second: figure,
    mean_per_second: figure,
    highest_per_second: figure,
  }),
  retry_after: z
    .strictObject({
      answers: count,
      /** The waits are whole multiples of this. */
      resolution_ms: z.int().min(1),
      /** The first requests after a wait during which no other request of the key was admitted. */
      after: z.strictObject({ requests: count, admitted: count }),
      before: z.strictObject({ requests: count, admitted: count }),
    })
    .optional(),
  promises: z.array(promiseSchema),
});
export type Boundary = z.infer<typeof boundarySchema>;
