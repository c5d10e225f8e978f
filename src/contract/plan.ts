import { z } from "zod";
import { configurationSchema } from "./configuration.js";

export const PLAN_SCHEMA = "ratelimit-bench/plan";
export const PLAN_SCHEMA_VERSION = 1;

const configurationHashSchema = z.string().regex(/^[0-9a-f]{16}$/);

/** The ordered list of runs of a campaign, with what was skipped and why. */
export const planSchema = z.strictObject({
  schema: z.literal(PLAN_SCHEMA),
  schema_version: z.literal(PLAN_SCHEMA_VERSION),
  seed: z.int().min(0),
  order: z.enum(["interleaved", "consecutive"]),
  /** Where runs are adaptive: at most. */
  runs_per_configuration: z.int().min(1),
  /** The campaign finds out how many runs each configuration needs; absent for a fixed number. */
  adaptive: z
    .strictObject({
      /** Rounds after which it is decided who goes on, fixed before the first run; the last one is the most. */
      looks: z.array(z.int().min(1)).min(1),
      /** No round is begun that would end after it. */
      budget_s: z.number().positive().optional(),
    })
    .optional(),
  warmup_s: z.number().min(0),
  cooldown_s: z.number().min(0),
  /** Between clients; applies to consecutive order alone. */
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
  /** What a reader must know before the first figure, e.g. that ioredis runs on Valkey here. */
  notes: z.array(z.string()),
});
export type Plan = z.infer<typeof planSchema>;
