import { z } from "zod";

/** The resource that limited the run, with the figures. It is `none` if nothing was used up. */
const limitedBySchema = z.strictObject({
  resource: z.enum([
    "server loop",
    "server CPU",
    "service CPU",
    "store CPU",
    "generator",
    "client",
    "host CPU",
    "quota",
    "network",
    "none",
  ]),
  text: z.string(),
});

const severitySchema = z.enum(["invalid", "suspect"]);

/** A rule that said nothing about a run, and why. */
export const ruleTextSchema = z.strictObject({ rule: z.string(), text: z.string() });
export type RuleText = z.infer<typeof ruleTextSchema>;

export const verdictSchema = z.strictObject({
  /**
   * The version of the rules that judged. It is absent in results that are older than the number.
   */
  rules_version: z.int().min(1).optional(),
  status: z.enum(["valid", "suspect", "invalid"]),
  reasons: z.array(
    z.strictObject({ rule: z.string(), severity: severitySchema, text: z.string() }),
  ),
  /** Rules that could not be applied to this run, and why. */
  not_applicable: z.array(ruleTextSchema),
  /**
   * Rules whose evidence the result does not hold, because it is older than they are. They are
   * absent without any.
   */
  not_checked: z.array(ruleTextSchema).optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;

/**
 * The outcome of a run (M24): the target served its load, could not keep up with the offered rate,
 * or failed.
 */
export const outcomeStatuses = ["served", "overloaded", "failed"] as const;
export type OutcomeStatus = (typeof outcomeStatuses)[number];

/** The conclusions about a run by the rules of its verdict. */
export const judgementSchema = z.strictObject({
  /**
   * What limited the run by the available evidence. A generator that was started by hand has none
   * of the store.
   */
  limited_by: limitedBySchema.optional(),
  /**
   * The outcome is absent where the measurement is broken, because then nothing is known about the
   * target.
   */
  outcome: z.enum(outcomeStatuses).optional(),
  /** What the target did with the load, in figures. It is absent where it served the load. */
  outcome_text: z.string().optional(),
});
export type Judgement = z.infer<typeof judgementSchema>;
