import { z } from "zod";

const count = z.int().min(0);

/**
 * Cumulative counters of a service at a drained moment. Counters that it does not keep are absent.
 */
export const serviceReadingSchema = z.strictObject({
  version: z.string().optional(),
  /** Identifies the process. A restarted service has another id. */
  run_id: z.string().optional(),
  /** Points that were decided on: one for each descriptor, times the cost of a request. */
  decisions: count,
  allowed: count.optional(),
  limited: count.optional(),
  failed: count.optional(),
});
export type ServiceReading = z.infer<typeof serviceReadingSchema>;

/** The service of one run, before any load and after the last answer. */
export const serviceEvidenceSchema = z.strictObject({
  id: z.string(),
  role: z.string(),
  at_start: serviceReadingSchema,
  at_end: serviceReadingSchema,
  /** The settings of the service, as environment variables without addresses. */
  settings: z.record(z.string(), z.string()),
});
export type ServiceEvidence = z.infer<typeof serviceEvidenceSchema>;
