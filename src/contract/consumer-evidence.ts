import { z } from "zod";
import { workloadSchema } from "./configuration.js";
import { pluginIdentitySchema } from "./plugins.js";
import {
  clientSettingsSchema,
  consumesSchema,
  limiterScriptSchema,
  usageSchema,
} from "./server-api.js";

/**
 * A process that calls the limiter, as it reports itself. It is one of our servers or, at the
 * limiter layer, the generator.
 */
export const consumerEvidenceSchema = z.strictObject({
  id: z.string(),
  run_nonce: z.string(),
  target: z.string(),
  /** The workloads of the server. The list is empty at the limiter layer. */
  workloads: z.array(workloadSchema),
  /**
   * The limiter's script, by which clients and scripts can be compared separately. It is absent
   * where no script decides.
   */
  limiter_script: limiterScriptSchema.optional(),
  client_settings: clientSettingsSchema,
  plugins: z.array(pluginIdentitySchema).optional(),
  /**
   * Readings at the drained moments, which come before any load, when the window opens, and after
   * the last answer.
   */
  at_start: usageSchema,
  at_window_open: usageSchema,
  at_end: usageSchema,
  consumes: consumesSchema.optional(),
});
export type ConsumerEvidence = z.infer<typeof consumerEvidenceSchema>;
