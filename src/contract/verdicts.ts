import { z } from "zod";
import { judgementSchema, ruleTextSchema, verdictSchema } from "./judgement.js";

export const VERDICTS_SCHEMA = "ratelimit-bench/verdicts";
export const VERDICTS_SCHEMA_VERSION = 1;

/** It lies in the folder of a campaign, or in a folder that has packed campaigns below it. */
export const VERDICTS_FILE = "verdicts.json";

/** What the present rules say of these results, and said otherwise when they were measured. */
const changeSchema = z.strictObject({
  files: z.array(z.string()).min(1),
  verdict: verdictSchema,
  /**
   * Absent where what follows from the verdict is as it was; else it takes the place of all that
   * was stored.
   */
  judgement: judgementSchema.optional(),
});
export type VerdictChange = z.infer<typeof changeSchema>;

const judgedCampaignSchema = z.strictObject({
  /**
   * The packed campaign below the folder of this file, with its digest. It is absent for a campaign
   * that is not packed.
   */
  archive: z.string().optional(),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  /** The campaign's folder, in the archive or relative to the current folder. */
  folder: z.string(),
  /** How many results were judged. A result that no change names has the verdict that it had. */
  judged: z.int().min(0),
  /** The rules that were checked for none of the campaign's results. The changes leave them out. */
  not_checked: z.array(ruleTextSchema).optional(),
  changes: z.array(changeSchema),
});
export type JudgedCampaign = z.infer<typeof judgedCampaignSchema>;

/**
 * The verdicts of rules that are newer than the measurements. They lie beside results that stay as
 * they are.
 */
export const verdictsSchema = z.strictObject({
  schema: z.literal(VERDICTS_SCHEMA),
  schema_version: z.literal(VERDICTS_SCHEMA_VERSION),
  rules_version: z.int().min(1),
  campaigns: z.array(judgedCampaignSchema),
});
export type Verdicts = z.infer<typeof verdictsSchema>;
