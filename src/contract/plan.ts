import { z } from "zod";
import { configurationSchema, warmupSchema } from "./configuration.js";
import { idSchema } from "./target.js";

export const PLAN_SCHEMA = "ratelimit-bench/plan";
/** History: 1 — first format; 2 — the configurations of result schema 2. */
export const PLAN_SCHEMA_VERSION = 2;

const configurationHashSchema = z.string().regex(/^[0-9a-f]{16}$/);

/** The ordered list of runs of a campaign, and what was skipped and why. */
export const planSchema = z.strictObject({
  schema: z.literal(PLAN_SCHEMA),
  schema_version: z.literal(PLAN_SCHEMA_VERSION),
  seed: z.int().min(0),
  order: z.enum(["interleaved", "consecutive"]),
  /** The maximum if runs are adaptive. */
  runs_per_configuration: z.int().min(1),
  /** The campaign decides how many runs each configuration needs; absent for a fixed number. */
  adaptive: z
    .strictObject({
      /** Rounds after which the campaign decides which configurations go on; the last one is the maximum. */
      looks: z.array(z.int().min(1)).min(1),
      /** No round starts that would end later. */
      budget_s: z.number().positive().optional(),
    })
    .optional(),
  warmup_s: warmupSchema,
  cooldown_s: z.number().min(0),
  /** Between clients; only with consecutive order. */
  client_cooldown_s: z.number().min(0),
  configurations: z.array(
    z.strictObject({ hash: configurationHashSchema, configuration: configurationSchema }),
  ),
  runs: z.array(
    z.strictObject({
      configuration_hash: configurationHashSchema,
      run: z.int().min(1),
      /** Result file, relative to the campaign's folder. */
      file: z.string(),
    }),
  ),
  skips: z.array(z.strictObject({ asked: z.string(), reason: z.string() })),
  /** Notes for the reader of the figures, e.g. that ioredis runs on Valkey. */
  notes: z.array(z.string()),
  /** Store with which the others of the store layer are compared; absent without that layer. */
  reference: idSchema.optional(),
});
export type Plan = z.infer<typeof planSchema>;
