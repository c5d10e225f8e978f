import { z } from "zod";
import { limitsSchema, workloadSchema } from "./configuration.js";
import { pluginIdentitySchema } from "./plugins.js";
import { targetSchema } from "./target.js";

/**
 * A `userId` with this prefix is a key whose quota is used up, for which the server asks a limiter
 * with 0 points.
 */
export const EXHAUSTED_KEY_PREFIX = "exhausted-";

/**
 * The versions at run time, which may differ from the requested ones. A part that does not exist
 * has no version, e.g. the store of `none`.
 */
export const versionsSchema = z.strictObject({
  node: z.string(),
  fastify: z.string().optional(),
  express: z.string().optional(),
  nest: z.string().optional(),
  client: z.string().optional(),
  limiter: z.string().optional(),
  store: z.string().optional(),
  autocannon: z.string().optional(),
  harness: z.string().optional(),
});

export const clientSettingsSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
);
export type ClientSettings = z.infer<typeof clientSettingsSchema>;

export const limiterScriptSchema = z.strictObject({
  kind: z.enum(["eval", "evalsha", "fcall"]),
  name_or_sha1: z.string().max(64),
});
export type LimiterScript = z.infer<typeof limiterScriptSchema>;

export const healthSchema = z.strictObject({
  service: z.literal("ratelimit-bench-server"),
  status: z.literal("ok"),
  run_nonce: z.string(),
  target: targetSchema,
  workloads: z.array(workloadSchema),
  limits: limitsSchema.optional(),
  limiter_script: limiterScriptSchema.optional(),
  versions: versionsSchema,
  client_settings: clientSettingsSchema,
  plugins: z.array(pluginIdentitySchema).optional(),
  pid: z.int(),
});
export type Health = z.infer<typeof healthSchema>;

/** The consumes since the start of the process. Each descriptor of a request is one consume. */
export const consumesSchema = z.strictObject({
  /** Calls of the limiter, one of which may decide on all descriptors of a request. */
  calls: z.int().min(0),
  allowed: z.int().min(0),
  limited: z.int().min(0),
  failed: z.int().min(0),
  /** Commands that carried the calls to the store. They are absent where each call takes one. */
  commands: z.int().min(0).optional(),
  /** Consumes decided although the store gave no decision (`+fail-open`, `+insurance-limiter`). */
  without_store: z.int().min(0).optional(),
});

/**
 * The answer to `GET /usage`: cumulative counters of the process, of which the reader computes
 * differences.
 */
export const usageSchema = z.strictObject({
  run_nonce: z.string(),
  uptime_s: z.number().min(0),
  cpu_user_us: z.int().min(0),
  cpu_system_us: z.int().min(0),
  heap_used_bytes: z.int().min(0),
  resident_bytes: z.int().min(0),
  /** The active time since the start, so that two readings give the utilisation between them. */
  event_loop_active_ms: z.number().min(0),
  event_loop_idle_ms: z.number().min(0),
  /**
   * The requests to limited routes since the start. `in_flight` counts those that are not finished.
   */
  requests: z.int().min(0),
  in_flight: z.int().min(0),
  consumes: consumesSchema.optional(),
});
export type Usage = z.infer<typeof usageSchema>;
export type Consumes = z.infer<typeof consumesSchema>;
