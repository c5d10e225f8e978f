import { z } from "zod";

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const seconds = z.number().min(0);

/**
 * Whether the service came back: `not known` where the run does not show it, for the reason in
 * `recovery_text`.
 */
export const recoveries = ["recovered", "never", "not known"] as const;

/**
 * `open`: admitted without the counters; `closed`: limited; `waits`: no answer; `unchanged`: as
 * before.
 */
export const behaviours = ["open", "closed", "errors", "waits", "unchanged"] as const;

/** Requests that were admitted from the injection on. */
const overAdmissionSchema = z.strictObject({
  admitted: count,
  /**
   * Admissions that the limiter's model predicts, with no counter lost, and with all lost at the
   * injection.
   */
  counters_kept: count,
  counters_lost: count.optional(),
});

/**
 * One fault. Seconds count from its injection and are whole slices; docs/faults.md defines each
 * figure.
 */
const figuresOfFaultSchema = z.strictObject({
  fault: count,
  /** From the injection to the next one, or to the end of the window. */
  observed_s: seconds,
  /** How long the harness had it in place; 0 for one that happens at a moment. */
  outage_injected_s: seconds,
  /**
   * From the first slice to the end of the last one in which requests were not served; 0 where none
   * was.
   */
  outage_seen_s: seconds,
  /** Until the first request failed or was given up; null where none was. */
  first_error_s: seconds.nullable(),
  /** Share of the requests that ended in the outage that was seen; null where none ended. */
  error_share: share.nullable(),
  /**
   * Until requests are served again, however slowly; null where they are not. Absent where too
   * little of the run is left to tell.
   */
  served_again_s: seconds.nullable().optional(),
  /** Only where the run did not state that figure, so that it was read from its timeline later. */
  served_again_from: z.literal("timeline").optional(),
  /** Whether the service settled again: requests are served, and as fast as before. */
  recovery: z.enum(recoveries),
  /** Null unless it recovered. */
  recovery_s: seconds.nullable(),
  recovery_text: z.string().optional(),
  /** Requests that failed or were given up from the injection on. */
  requests_lost: count,
  /** Null where the quotas cannot be used up; absent where it is not known. */
  over_admission: overAdmissionSchema.nullable().optional(),
  /**
   * The highest p99 of a second that begins while the fault is in place; null where nothing was
   * answered in one.
   */
  p99_worst_us: count.nullable(),
  /**
   * Of the requests that ended while the fault was in place or the outage was seen; null where none
   * did.
   */
  answers: z.strictObject({ allowed: share, limited: share, failed: share }).nullable(),
  behaviour: z.enum(behaviours),
  /**
   * Resident memory of all servers together, the largest reading; absent without servers of ours.
   */
  server_memory_peak_bytes: count.optional(),
  server_memory_before_bytes: count.optional(),
});
export type FiguresOfFault = z.infer<typeof figuresOfFaultSchema>;

export const faultFiguresSchema = z.strictObject({
  /**
   * The service before the first fault, by which recovery is judged; absent where the run has less
   * than three seconds of it.
   */
  before: z
    .strictObject({
      /** Ten, or as many as there were. */
      seconds: z.number().min(3).max(10),
      p99_us: count.nullable(),
      limited_share: share.nullable(),
    })
    .optional(),
  faults: z.array(figuresOfFaultSchema),
});
export type FaultFigures = z.infer<typeof faultFiguresSchema>;
