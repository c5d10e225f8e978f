import { z } from "zod";
import { throttlingSchema } from "../kit/control-groups.js";
import { clockChangeSchema } from "../kit/system-clock.js";
import { admissionsSchema } from "./admissions.js";
import { boundarySchema } from "./boundary.js";
import {
  configurationSchema,
  extentSchema,
  kindCapsSchema,
  loadSchema,
  warmupSchema,
  workloadSchema,
} from "./configuration.js";
import { consumerEvidenceSchema } from "./consumer-evidence.js";
import { diagnosisSchema } from "./diagnosis.js";
import { faultFiguresSchema } from "./fault-figures.js";
import { faultRecordSchema } from "./fault-schemas.js";
import { generatorPartSchema, sampleSchema } from "./generator-part.js";
import { judgementSchema, verdictSchema } from "./judgement.js";
import { latencySchema } from "./latency-figures.js";
import { driverLayerSchema } from "./layers.js";
import { machineLinkSchema } from "./machines.js";
import { pluginIdentitySchema } from "./plugins.js";
import { countSchema, millisecondsSchema } from "./quantities.js";
import { countsSchema, slicesSchema } from "./request-outcomes.js";
import { hostLoadSchema, machineLoadSchema, roleResourcesSchema } from "./role-resources.js";
import { scheduleSchema } from "./schedule.js";
import { versionsSchema } from "./server-api.js";
import { serviceEvidenceSchema } from "./service.js";
import { storeEvidenceSchema } from "./store.js";
import { timelineSchema } from "./timeline.js";
import { turnsRecordSchema } from "./turns.js";

export const RESULT_SCHEMA = "ratelimit-bench/result";

/**
 * The version of the format. Version 1 was the first. Version 2 has layers, any number of servers,
 * stores that do not speak RESP, and roles by kind. Version 3 has turns. Version 4 states what the
 * report derived before, which is the text of the load, properties of the target and the curve of
 * the latencies.
 *
 * Programs of this language read this version alone. Older documents are converted in one place,
 * `report/results/older_documents.py`, when the report or `ratelimit-bench judge` loads them.
 * Campaigns are not resumed across versions, so that a second converter here would have nobody to
 * serve.
 */
export const RESULT_SCHEMA_VERSION = 4;

const predictionSchema = z.strictObject({
  limited_share: z.number().min(0).max(1),
  seen_share: z.number().min(0).max(1),
  tolerance: z.number().min(0),
  /**
   * With `traffic` the profile fixes the share, whatever the client's speed. With `limits` it
   * follows from explicit limits and depends on the speed.
   */
  basis: z.enum(["traffic", "limits"]),
});

export const runtimeRecordSchema = z.strictObject({
  id: z.string(),
  /** Whether the store came with the project's Python packages. */
  embedded_store: z.boolean(),
  caps_applied: z.boolean(),
  caps: kindCapsSchema.optional(),
});

const identity = {
  schema: z.literal(RESULT_SCHEMA),
  schema_version: z.literal(RESULT_SCHEMA_VERSION),
  campaign: z.string().optional(),
  run: z.int().min(1),
  configuration: configurationSchema.optional(),
  configuration_hash: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  /** The load in words, see `loadText`. */
  load_text: z.string(),
  runtime: runtimeRecordSchema.optional(),
  /**
   * Plugins of the campaign, or of a generator that was started by hand. They are absent without
   * any.
   */
  plugins: z.array(pluginIdentitySchema).optional(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  notes: z.array(z.string()),
  /**
   * Only of a run with instruments (`--diagnose`), which never counts because the instruments are
   * in its figures.
   */
  diagnosis: diagnosisSchema.optional(),
};

const machinesOfRun = {
  placement: z.record(z.string(), z.string()).optional(),
  /**
   * The links between the machines that could be measured, as they were just before the campaign.
   */
  links: z.array(machineLinkSchema).optional(),
  /** The load of each machine on which it is counted. It takes the place of `host_load`. */
  machine_load: z.record(z.string(), machineLoadSchema).optional(),
};

const outsideOfRun = {
  /**
   * The throttling of the control groups in which harness and roles ran together, from the reading
   * before the lead-in to that after the window (M14, M36). It is absent where roles have groups of
   * their own, and without a quota.
   */
  own_throttling: throttlingSchema.optional(),
  /**
   * How far the system clock moved in the run (M36). It is absent in results that are older than
   * the rule.
   */
  clock_change: clockChangeSchema.optional(),
};

/**
 * The generator's settings. Every measured result has them, also one of a server that is not ours.
 */
const requestSchema = z.strictObject({
  layer: driverLayerSchema,
  /** Base addresses, one per server. They are empty at the limiter layer. */
  urls: z.array(z.string()),
  label: z.string(),
  workload: z.string(),
  traffic: z.string(),
  load: loadSchema,
  extent: extentSchema,
  /** Threads of each generator. */
  workers: z.int().min(1),
  warmup_s: warmupSchema,
  seed: z.int().min(0),
  timeout_s: z.number().positive(),
});

const warmupRecordSchema = z.strictObject({
  took_s: z.number().min(0),
  /**
   * Requests that were sent in the warm-up. Those of a closed loop that were in flight when the
   * window opened count in the window.
   */
  requests: countSchema,
  /**
   * The last part of the warm-up, which follows the reading of the counters and runs into the
   * window without a pause.
   */
  lead_in: z.strictObject({ took_s: z.number().min(0), requests: countSchema }),
  /** The first part of the warm-up of an open loop, in which it sent as a closed one. */
  closed: z.strictObject({ took_s: z.number().min(0), requests: countSchema }).optional(),
  /**
   * Whether the last slices of a warm-up of `auto` had no trend. If they had, or if they did not
   * tell, the warm-up ended at its longest.
   */
  steady: z.boolean().optional(),
});

export const measuredResultSchema = z.strictObject({
  ...identity,
  status: z.literal("measured"),
  request: requestSchema,
  duration: z.number().positive(),
  requests: z.strictObject({ average: z.number().min(0), total: countSchema }),
  warmup: warmupRecordSchema,
  /**
   * The latency of all answers, including followed ones (M23). In an open loop it counts from the
   * intended send (M3).
   */
  latency: latencySchema.optional(),
  /**
   * Milliseconds at `CURVE_THOUSANDTHS`, up to the first figure that is not known (M23). It is
   * empty without an answer.
   */
  latency_curve_ms: z.array(millisecondsSchema),
  service_time: latencySchema.optional(),
  schedule: scheduleSchema.optional(),
  /** Percentiles with too few samples (M18), which reports mark. */
  unsupported: z.array(z.string()),
  rate_limit_hits: countSchema,
  /**
   * The mean CPU use of all servers in lead-in and window, in % of one core. It is absent without a
   * server.
   */
  cpu_usage: z.number().min(0).optional(),
  /** Mean use of the heaps of all servers, in bytes. It is absent without a server of ours. */
  memory_usage: z.number().min(0).optional(),
  /** Mean resident memory of all servers, in bytes. */
  memory_resident: z.number().min(0).optional(),
  errors: countSchema,
  timeouts: countSchema,
  totalErrors: countSchema,
  counts: countsSchema,
  generators: z.array(generatorPartSchema).min(1),
  samples: z.array(sampleSchema),
  slices: slicesSchema,
  timeline: timelineSchema.optional(),
  prediction: predictionSchema.optional(),
  /** The consumers. The list is empty for a server that is not ours. */
  consumers: z.array(consumerEvidenceSchema),
  /**
   * Calls of the limiter per request, and descriptors that one call decides. They are absent
   * without a limiter.
   */
  calls_per_request: z.number().positive().optional(),
  descriptors_per_call: z.number().positive().optional(),
  store: storeEvidenceSchema.optional(),
  service: serviceEvidenceSchema.optional(),
  admissions: admissionsSchema.optional(),
  /** The planned faults as they took place. It is absent without faults. */
  faults: z.array(faultRecordSchema).min(1).optional(),
  /** What the faults did to the requests. It is absent where none was injected. */
  fault_figures: faultFiguresSchema.optional(),
  /**
   * What each key was admitted. It is present only with traffic `boundary`, on a target with a
   * limiter.
   */
  boundary: boundarySchema.optional(),
  resources: z.record(z.string(), roleResourcesSchema),
  turns: turnsRecordSchema.optional(),
  ...outsideOfRun,
  /**
   * Seconds from the start of all servers until each was ready, by role. They are absent without a
   * server.
   */
  servers_ready_s: z.record(z.string(), z.number().min(0)).optional(),
  /** Absent if the system does not report it. */
  host_load: hostLoadSchema.optional(),
  ...machinesOfRun,
  versions: versionsSchema,
  verdict: verdictSchema,
  ...judgementSchema.shape,
});
export type MeasuredResult = z.infer<typeof measuredResultSchema>;

/** Counts of the operations of the store, or of decisions, before and after the load. */
const operationCallsSchema = z.strictObject({ before: countSchema, after: countSchema });

const storeMemorySchema = z.strictObject({
  keys: z.int().min(1),
  /** Used memory after the load less that of the empty store. */
  used_bytes: z.int(),
  bytes_per_key: z.number(),
});

/**
 * A run of a load program: the figures that it printed, and what the harness measured around it.
 */
export const printedResultSchema = z.strictObject({
  ...identity,
  status: z.literal("printed"),
  operation: workloadSchema,
  load: loadSchema,
  warmup_s: z.number().min(0),
  /** Seconds that the requests take at the printed throughput. */
  duration: z.number().positive(),
  /** Seconds from the program's start to its end, by the clock of the harness. */
  program_s: z.number().positive(),
  operations: z.strictObject({
    total: z.int().min(1),
    per_second: z.number().positive(),
    /**
     * How many more calls may have been counted, because they were under way at the end or the
     * beginning.
     */
    more_at_most: countSchema.optional(),
  }),
  /** Milliseconds, as the program prints them. */
  latency: z.strictObject({
    average: millisecondsSchema,
    min: millisecondsSchema,
    p50: millisecondsSchema,
    p95: millisecondsSchema,
    p99: millisecondsSchema,
    max: millisecondsSchema,
  }),
  program: z.strictObject({
    id: z.string(),
    version: z.string(),
    arguments: z.array(z.string()),
    output: z.string(),
  }),
  /** The calls of the operation's command, or the decisions, as store or service counted them. */
  calls: operationCallsSchema.optional(),
  memory: storeMemorySchema.optional(),
  store: storeEvidenceSchema,
  service: serviceEvidenceSchema.optional(),
  resources: z.record(z.string(), roleResourcesSchema),
  store_cpu_us_per_operation: z.number().min(0).optional(),
  host_load: hostLoadSchema.optional(),
  ...outsideOfRun,
  ...machinesOfRun,
  versions: z.strictObject({
    store: z.string().optional(),
    /** The version of the service. */
    limiter: z.string().optional(),
    program: z.string(),
  }),
  verdict: verdictSchema,
  ...judgementSchema.omit({ outcome_text: true }).shape,
});
export type PrintedResult = z.infer<typeof printedResultSchema>;

/** A run without figures. It is recorded as failed, never as zeros. */
export const failedResultSchema = z.strictObject({
  ...identity,
  status: z.enum(["failed", "aborted"]),
  failure: z.strictObject({ role: z.string(), text: z.string() }),
  verdict: verdictSchema,
});
export type FailedResult = z.infer<typeof failedResultSchema>;

export const resultSchema = z.discriminatedUnion("status", [
  measuredResultSchema,
  printedResultSchema,
  failedResultSchema,
]);
export type Result = z.infer<typeof resultSchema>;

/**
 * Whether a run ended with figures, which our own generator measured or a load program
 * printed.
 */
export const hasFigures = (result: Result): result is MeasuredResult | PrintedResult =>
  result.status === "measured" || result.status === "printed";
