import { z } from "zod";
import { nodeCountersSchema } from "./diagnosis.js";
import { serviceReadingSchema } from "./service.js";

const count = z.int().min(0);

/**
 * The script calls of one node by command, with all calls and the failed ones (e.g. with NOSCRIPT).
 */
const scriptCallsSchema = z.record(z.string(), z.strictObject({ calls: count, failed: count }));

/**
 * Evidence that a store may be unable to give. A rule that needs missing evidence is not
 * applicable: `decisions` and `scripts` counted by the store, `keys` and `evictions`, `restarts` (a
 * `run_id`), `memory`, `cpu`.
 */
export const evidenceNames = [
  "decisions",
  "scripts",
  "keys",
  "evictions",
  "restarts",
  "memory",
  "cpu",
] as const;
export type EvidenceName = (typeof evidenceNames)[number];

/** One store node at a drained moment. Evidence that this store does not give is absent. */
const storeReadingSchema = z.strictObject({
  version: z.string(),
  uptime_s: count.optional(),
  /** Identifies the process. A restarted node has another id. */
  run_id: z.string().optional(),
  /** The decisions of the limiter that reached this node. */
  decisions: count.optional(),
  /** The commands that carried the decisions. They are present only for limiters with a script. */
  script_calls: scriptCallsSchema.optional(),
  keys: count.optional(),
  evicted_keys: count.optional(),
  expired_keys: count.optional(),
  used_memory_bytes: count.optional(),
  connections_received: count.optional(),
  cpu_user_us: count.optional(),
  cpu_system_us: count.optional(),
});
export type StoreReading = z.infer<typeof storeReadingSchema>;

/** Keys that a store holds and that have not ended. */
const storedKeysSchema = z.strictObject({
  keys: count,
  without_end: count,
  examples: z.array(z.string()).max(5),
});
export type StoredKeys = z.infer<typeof storedKeysSchema>;

const moduleIdentitySchema = z.strictObject({
  id: z.string(),
  /** The version that the store reports. It is absent before it is loaded. */
  version: z.string().optional(),
  /** A hash of its file. It is absent for a store that the user runs. */
  sha256: z.string().optional(),
});
export type ModuleIdentity = z.infer<typeof moduleIdentitySchema>;

/**
 * The store in one run: each node before any load (emptied, with reset statistics) and after the
 * last answer.
 */
export const storeEvidenceSchema = z.strictObject({
  nodes: z.array(
    z.strictObject({ role: z.string(), at_start: storeReadingSchema, at_end: storeReadingSchema }),
  ),
  settings: z.record(z.string(), z.string()),
  /**
   * Connections that the nodes received between the readings, without those of the probe. It is
   * absent where a node does not count them, and where others may connect.
   */
  connections_under_load: count.optional(),
  /** The threads of a node that execute commands. It defaults to 1. */
  command_threads: z.int().min(1).optional(),
  modules: z.array(moduleIdentitySchema).optional(),
  /**
   * The user runs the store: it is never emptied, its statistics are never reset, and others may
   * use it.
   */
  external: z.boolean(),
});
export type StoreEvidence = z.infer<typeof storeEvidenceSchema>;

/** The detected type, version, topology and nodes of an external store. */
const discoverySchema = z.strictObject({
  store: z.string(),
  version: z.string(),
  topology: z.string(),
  nodes: z.array(z.strictObject({ host: z.string(), port: z.int() })),
  /** Ids of the limiter modules that it has loaded. They are absent without any. */
  modules: z.array(z.string()).optional(),
  /**
   * The limit of the store's memory, where 0 means none, and what the store does at it. It is
   * absent where the store does not report it.
   */
  memory: z.strictObject({ max_bytes: count, policy: z.string() }).optional(),
});
export type Discovery = z.infer<typeof discoverySchema>;

/**
 * What every server that speaks RESP may have or lack, and how much of it the store layer needs.
 */
const storeFeatures = ["EVAL", "HELLO", "CONFIG", "commandstats", "DBSIZE", "used_memory"] as const;
export type StoreFeature = (typeof storeFeatures)[number];

/**
 * The probe's output. It is one JSON document with a member for each action, with nodes in the
 * given order.
 */
export const probeReportSchema = z.strictObject({
  discovered: discoverySchema.optional(),
  formed_in_s: z.number().min(0).optional(),
  ready_in_s: z.number().min(0).optional(),
  flushed: z.boolean().optional(),
  readings: z.array(storeReadingSchema).optional(),
  stored: storedKeysSchema.optional(),
  /** How many keys lost their end. It is absent for a store that does not list its keys. */
  persisted: count.optional(),
  /** What a store tells about its commands and its network. It is empty where it cannot. */
  diagnosed: z.array(nodeCountersSchema).optional(),
  settings: z.record(z.string(), z.string()).optional(),
  /** Versions of the limiter modules that every node has loaded, by id. */
  modules: z.record(z.string(), z.string()).optional(),
  lacks: z.array(z.enum(storeFeatures)).optional(),
  /**
   * Keys that were filled in, and the command that runs the operation's script. They are absent for
   * other operations.
   */
  prepared: z.strictObject({ filled: count, script: z.array(z.string()).optional() }).optional(),
  /** Under the keys, in their order. It is null for a key that there is not. */
  numbers: z.array(z.int().nullable()).optional(),
  /** How long a fault took that the store itself carries out. */
  fault_s: z.number().min(0).optional(),
  service_ready_in_s: z.number().min(0).optional(),
  service_reading: serviceReadingSchema.optional(),
});
export type ProbeReport = z.infer<typeof probeReportSchema>;
