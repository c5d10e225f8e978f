import { z } from "zod";

const count = z.int().min(0);

/** Script calls of one node: `calls` that ran, less those that failed (a NOSCRIPT answer is a failed call). */
export const scriptCallsSchema = z.record(z.string(), z.strictObject({ calls: count, failed: count }));

/** One store node at a drained moment. */
export const storeReadingSchema = z.strictObject({
  run_id: z.string(),
  version: z.string(),
  uptime_s: count,
  keys: count,
  evicted_keys: count,
  expired_keys: count,
  used_memory_bytes: count,
  script_calls: scriptCallsSchema,
  cpu_user_us: count,
  cpu_system_us: count,
});
export type StoreReading = z.infer<typeof storeReadingSchema>;

/** The store over one run: each node before any load (emptied, statistics reset) and after the last answer. */
export const storeEvidenceSchema = z.strictObject({
  nodes: z.array(
    z.strictObject({ role: z.string(), at_start: storeReadingSchema, at_end: storeReadingSchema }),
  ),
  settings: z.record(z.string(), z.string()),
});
export type StoreEvidence = z.infer<typeof storeEvidenceSchema>;

/** What the probe prints for each action: one JSON document, nodes in the order in which they were given. */
export const probeReportSchema = z.strictObject({
  formed_in_s: z.number().min(0).optional(),
  ready_in_s: z.number().min(0).optional(),
  flushed: z.boolean().optional(),
  readings: z.array(storeReadingSchema).optional(),
  settings: z.record(z.string(), z.string()).optional(),
});
export type ProbeReport = z.infer<typeof probeReportSchema>;
