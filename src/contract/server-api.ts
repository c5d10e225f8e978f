import { z } from "zod";
import { limitsSchema, workloadSchema } from "./configuration.js";
import { pluginFactsSchema } from "./plugins.js";
import { targetSchema } from "./target.js";

/** Requests whose `userId` starts with this are on a key whose quota is used up: they meet a limiter of 0 points. */
export const EXHAUSTED_KEY_PREFIX = "exhausted-";

/** Versions as seen at run time, never as asked. Absent where the part does not exist (no store for `none`). */
export const versionsSchema = z.strictObject({
  node: z.string(),
  fastify: z.string().optional(),
  client: z.string().optional(),
  limiter: z.string().optional(),
  store: z.string().optional(),
  autocannon: z.string().optional(),
  harness: z.string().optional(),
});
export type Versions = z.infer<typeof versionsSchema>;

/** The client settings that matter, explicit and with units in their names. */
export const clientSettingsSchema = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()]),
);
export type ClientSettings = z.infer<typeof clientSettingsSchema>;

/** The script that decides, as the store knows it: the sha1 of its text, or the name of its function. */
export const limiterScriptSchema = z.strictObject({
  kind: z.enum(["eval", "evalsha", "fcall"]),
  name_or_sha1: z.string().max(64),
});
export type LimiterScript = z.infer<typeof limiterScriptSchema>;

/** `GET /healthz` */
export const healthSchema = z.strictObject({
  service: z.literal("ratelimit-bench-server"),
  status: z.literal("ok"),
  run_nonce: z.string(),
  target: targetSchema,
  workloads: z.array(workloadSchema),
  limits: limitsSchema.optional(),
  /** Absent where no script decides. */
  limiter_script: limiterScriptSchema.optional(),
  versions: versionsSchema,
  client_settings: clientSettingsSchema,
  /** Absent where none was loaded. */
  plugins: z.array(pluginFactsSchema).optional(),
  pid: z.int(),
});
export type Health = z.infer<typeof healthSchema>;

/** Consumes of the limiter since the server started: each descriptor of a request is one consume. */
export const consumesSchema = z.strictObject({
  allowed: z.int().min(0),
  limited: z.int().min(0),
  failed: z.int().min(0),
});

/** `GET /usage`: cumulative counters of the server process. Differences over a window are the caller's. */
export const usageSchema = z.strictObject({
  run_nonce: z.string(),
  uptime_s: z.number().min(0),
  cpu_user_us: z.int().min(0),
  cpu_system_us: z.int().min(0),
  heap_used_bytes: z.int().min(0),
  resident_bytes: z.int().min(0),
  /** Cumulative, so that utilisation over any window can be had from two readings. */
  event_loop_active_ms: z.number().min(0),
  event_loop_idle_ms: z.number().min(0),
  /** Requests to limited routes: begun, and begun but not yet answered. */
  requests: z.int().min(0),
  in_flight: z.int().min(0),
  /** Absent where there is no limiter. */
  consumes: consumesSchema.optional(),
});
export type Usage = z.infer<typeof usageSchema>;
