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
  /** Somebody else's store: it is never emptied, its statistics are never reset, and others may use it too. */
  external: z.boolean(),
});
export type StoreEvidence = z.infer<typeof storeEvidenceSchema>;

/** What a store that somebody else runs turns out to be. */
export const discoverySchema = z.strictObject({
  store: z.string(),
  version: z.string(),
  topology: z.string(),
  nodes: z.array(z.strictObject({ host: z.string(), port: z.int() })),
});
export type Discovery = z.infer<typeof discoverySchema>;

/** What the probe prints for each action: one JSON document, nodes in the order in which they were given. */
export const probeReportSchema = z.strictObject({
  discovered: discoverySchema.optional(),
  formed_in_s: z.number().min(0).optional(),
  ready_in_s: z.number().min(0).optional(),
  flushed: z.boolean().optional(),
  readings: z.array(storeReadingSchema).optional(),
  settings: z.record(z.string(), z.string()).optional(),
});
export type ProbeReport = z.infer<typeof probeReportSchema>;
