import { z } from "zod";

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const seconds = z.number().min(0);

/**
 * Whether the service came back. It is `not known` where the run does not show it, for the reason
 * in `recovery_text`.
 */
export const recoveries = ["recovered", "never", "not known"] as const;

/**
 * What requests met: `open` admits without the counters, `closed` limits, `waits` gives no answer,
 * and `unchanged` is as before.
 */
export const behaviours = ["open", "closed", "errors", "waits", "unchanged"] as const;

/** Requests that were admitted from the injection on. */
const overAdmissionSchema = z.strictObject({
  admitted: count,
  /** Admissions that the limiter's model predicts if no counter is lost. */
  counters_kept: count,
  /** Admissions that it predicts if all counters are lost at the injection. */
  counters_lost: count.optional(),
});

/**
 * The figures of one fault. Seconds count from its injection and are whole slices. docs/faults.md
 * defines each figure.
 */
const figuresOfFaultSchema = z.strictObject({
  fault: count,
  /** Seconds from the injection to the next one, or to the end of the window. */
  observed_s: seconds,
  /** How long the harness had the fault in place. It is 0 for a fault of a moment. */
  outage_injected_s: seconds,
  /**
   * Seconds from the first slice in which requests were not served to the end of the last one. They
   * are 0 without any.
   */
  outage_seen_s: seconds,
  /** Seconds until the first request failed or was given up. They are null where none was. */
  first_error_s: seconds.nullable(),
  /**
   * The share of failures among the requests that ended in the outage that was seen. It is null
   * where none ended.
   */
  error_share: share.nullable(),
  /**
   * Seconds until requests are served again, however slowly. They are null where they are not. It
   * is absent where too little of the run is left to tell.
   */
  served_again_s: seconds.nullable().optional(),
  /**
   * Present where the run did not state that figure, so that it was read from its timeline later.
   */
  served_again_from: z.literal("timeline").optional(),
  /** Whether the service recovered, so that requests are served as fast as before. */
  recovery: z.enum(recoveries),
  /** Seconds until the service recovered. They are null unless it did. */
  recovery_s: seconds.nullable(),
  recovery_text: z.string().optional(),
  /** Requests that failed or were given up from the injection on. */
  requests_lost: count,
  /** It is null where the quotas cannot be used up, and absent where it is not known. */
  over_admission: overAdmissionSchema.nullable().optional(),
  /**
   * The highest p99 of a second that begins while the fault is in place. It is null without an
   * answer.
   */
  p99_worst_us: count.nullable(),
  /**
   * Shares of the requests that ended while the fault was in place or the outage was seen. It is
   * null without any.
   */
  answers: z.strictObject({ allowed: share, limited: share, failed: share }).nullable(),
  behaviour: z.enum(behaviours),
  /**
   * The largest reading of the resident memory of all servers together. It is absent where no
   * server is ours.
   */
  server_memory_peak_bytes: count.optional(),
  server_memory_before_bytes: count.optional(),
});
export type FiguresOfFault = z.infer<typeof figuresOfFaultSchema>;

export const faultFiguresSchema = z.strictObject({
  /**
   * The service before the first fault, by which recovery is judged. It is absent where the run has
   * less than three seconds of it.
   */
  before: z
    .strictObject({
      /** Ten seconds, or as many as there were. */
      seconds: z.number().min(3).max(10),
      p99_us: count.nullable(),
      limited_share: share.nullable(),
    })
    .optional(),
  faults: z.array(figuresOfFaultSchema),
});
export type FaultFigures = z.infer<typeof faultFiguresSchema>;
