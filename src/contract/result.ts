import { z } from "zod";
import {
  capsSchema,
  configurationSchema,
  extentSchema,
  kindCapsSchema,
  loadSchema,
  workloadSchema,
} from "./configuration.js";
import { layerSchema } from "./layers.js";
import { pluginFactsSchema } from "./plugins.js";
import { measuredKindSchema } from "./role.js";
import { scheduleCountsSchema, scheduleSchema } from "./schedule.js";
import {
  clientSettingsSchema,
  consumesSchema,
  limiterScriptSchema,
  usageSchema,
  versionsSchema,
} from "./server-api.js";
import { storeEvidenceSchema } from "./store.js";

export const RESULT_SCHEMA = "ratelimit-bench/result";
/** History: 1 — first format; 2 — layers, any number of servers, stores that do not speak RESP, roles by kind. */
export const RESULT_SCHEMA_VERSION = 2;

const count = z.int().min(0);
const ms = z.number().min(0);

/** HDR histogram V2, zlib-compressed, base64; values in microseconds, 3 significant digits. */
const histogramSchema = z.strictObject({
  unit: z.literal("us"),
  encoding: z.literal("hdr-v2-compressed-base64"),
  count,
  data: z.string(),
});
export type EncodedHistogram = z.infer<typeof histogramSchema>;

export const outcomes = ["allowed", "limited", "failed"] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * All sent requests by outcome (M8):
 * sent = allowed + limited + failed_answers + connection_errors + timed_out + cut.
 */
const countsSchema = z.strictObject({
  sent: count,
  allowed: count,
  limited: count,
  /** Answers that are neither allowed nor limited. */
  failed_answers: count,
  /** Requests whose connection ended before the answer. */
  connection_errors: count,
  timed_out: count,
  /** In flight when the window closed, at most one per connection; in no figure. */
  cut: count,
  /** Answers by the driver's code: the HTTP status, or at the limiter layer the outcome. */
  by_code: z.record(z.string().regex(/^[0-9a-z_-]{1,40}$/), count),
});
export type Counts = z.infer<typeof countsSchema>;

const outcomeHistogramsSchema = z.strictObject({
  allowed: histogramSchema,
  limited: histogramSchema,
  failed: histogramSchema,
});

/** A physical link of the generator's machine that states its rate, and the bytes on it in the window. */
const linkSchema = z.strictObject({
  name: z.string(),
  bits_per_second: z.number().positive(),
  received_bytes: count,
  sent_bytes: count,
});
export type NetworkLink = z.infer<typeof linkSchema>;

const generatorWorkerSchema = z.strictObject({
  connections: z.int().min(1),
  counts: countsSchema,
  /** 0 to 1, of the worker's event loop, in the window. */
  event_loop_utilisation: z.number().min(0).max(1),
  /** 0 to 1: share of the window in which it was ready to run but had no CPU. Absent if the system does not report it. */
  cpu_wait_share: z.number().min(0).max(1).optional(),
});

/** One load generator. A run has one or more; the figures of the run come from their merged histograms. */
const generatorPartSchema = z.strictObject({
  id: z.string(),
  workers: z.array(generatorWorkerSchema).min(1),
  counts: countsSchema,
  window_s: z.number().positive(),
  /** CPU time of the whole generator process in the window. */
  cpu_us: count,
  resident_bytes: count,
  /** Absent where the system reports none: in containers, on most virtual machines, and outside Linux. */
  links: z.array(linkSchema).min(1).optional(),
  /** In an open loop from the intended send, in a closed loop from the send (M3). */
  histograms: outcomeHistogramsSchema,
  /** Open loop only: from the send. */
  service_histograms: outcomeHistogramsSchema.optional(),
  /** Open loop only; `lateness`: time from the intended to the actual send. */
  schedule: z.strictObject({ ...scheduleCountsSchema.shape, lateness: histogramSchema }).optional(),
});
export type GeneratorPart = z.infer<typeof generatorPartSchema>;

/** One second of the measured window (the last one may be shorter). */
const sampleSchema = z.strictObject({
  /** End of this interval, seconds since the window opened. */
  t_s: z.number().positive(),
  interval_s: z.number().positive(),
  allowed: count,
  limited: count,
  failed: count,
  p50_ms: ms.optional(),
  p99_ms: ms.optional(),
  /** 0 to 1, of the busiest worker's event loop in this interval. */
  generator_event_loop_utilisation: z.number().min(0).max(1).optional(),
  /** Of all servers together, like the two below; the utilisation is that of the busiest. */
  server_cpu_percent: z.number().min(0).optional(),
  server_heap_used_bytes: count.optional(),
  server_resident_bytes: count.optional(),
  server_event_loop_utilisation: z.number().min(0).max(1).optional(),
});
export type Sample = z.infer<typeof sampleSchema>;

/** The resources that one role used in the window, from cumulative counters at both ends. */
const roleResourcesSchema = z.strictObject({
  kind: measuredKindSchema,
  /** How it was read, e.g. `process.cpuUsage`, `pidusage`, `cgroup`. */
  source: z.string(),
  cpu_us: count,
  /** Of one core: 100 is one core busy for the whole window. */
  cpu_percent: z.number().min(0),
  /**
   * Per request that the servers answered between the drained readings around the window or, without their count, per
   * sent request; at the limiter layer per decision. Absent without requests.
   */
  cpu_us_per_request: z.number().min(0).optional(),
  /** How long its threads were ready to run but had no CPU. Absent if the system does not report it. */
  run_delay_us: count.optional(),
  resident_bytes_mean: count.optional(),
  resident_bytes_max: count.optional(),
  /** As the engine applies them. */
  caps: capsSchema.optional(),
  /** Throttling by the CPU cap in the window, in periods of the scheduler. Absent without a cap. */
  throttling: z.strictObject({ periods: count, throttled_periods: count, throttled_us: count }).optional(),
  network: z.strictObject({ received_bytes: count, sent_bytes: count }).optional(),
  samples: z.array(
    z.strictObject({
      t_s: z.number(),
      cpu_percent: z.number().min(0),
      resident_bytes: count,
      throttled_periods: count.optional(),
      received_bytes: count.optional(),
      sent_bytes: count.optional(),
    }),
  ),
});
export type RoleResources = z.infer<typeof roleResourcesSchema>;

/** From this percentage of one CPU on, other programs disturb a run (M25). */
export const FOREIGN_CPU_PERCENT = 10;

/** How busy the machine was in the window. Percentages are of one CPU: two busy CPUs are 200. */
const hostLoadSchema = z.strictObject({
  cpus: z.int().min(1),
  busy_cpu_percent: z.number().min(0),
  /**
   * CPU time of everything except the roles and the harness (M25). With an external store it is a lower bound: the whole
   * CPU time of the store is subtracted, because the store may run on this machine.
   */
  foreign_cpu_percent: z.number().min(0),
});
export type HostLoad = z.infer<typeof hostLoadSchema>;

/** A process that calls the limiter, as it reports itself: one of our servers or, at the limiter layer, the generator. */
const consumerEvidenceSchema = z.strictObject({
  /** Its role. */
  id: z.string(),
  run_nonce: z.string(),
  /** The full text of its target. */
  target: z.string(),
  /** Empty at the limiter layer. */
  workloads: z.array(workloadSchema),
  /** The limiter's script, which separates the client from its script; absent without a store. */
  limiter_script: limiterScriptSchema.optional(),
  client_settings: clientSettingsSchema,
  /** Plugins that it loaded; absent without any. */
  plugins: z.array(pluginFactsSchema).optional(),
  /** Readings at drained moments: before any load, when the window opened, after the last answer. */
  at_start: usageSchema,
  at_window_open: usageSchema,
  at_end: usageSchema,
  /** Consumes in the window. */
  consumes: consumesSchema.optional(),
  /**
   * Consumes that loaded the limiter's scripts after the first reading of the store, at the limiter layer alone: the store
   * counts them too (M8). Absent where the limiter does not say how many they were.
   */
  preload_consumes: count.optional(),
});
export type ConsumerEvidence = z.infer<typeof consumerEvidenceSchema>;

const predictionSchema = z.strictObject({
  limited_share: z.number().min(0).max(1),
  seen_share: z.number().min(0).max(1),
  tolerance: z.number().min(0),
  /** `traffic`: fixed by the profile, whatever the client's speed. `limits`: by explicit limits, depends on the speed. */
  basis: z.enum(["traffic", "limits"]),
});

/** The resource that limited the run, with the figures; `none` if nothing was used up. */
const limitedBySchema = z.strictObject({
  resource: z.enum([
    "server loop",
    "server CPU",
    "store CPU",
    "generator",
    "client",
    "host CPU",
    "quota",
    "network",
    "none",
  ]),
  text: z.string(),
});

const severitySchema = z.enum(["invalid", "suspect"]);
const verdictSchema = z.strictObject({
  status: z.enum(["valid", "suspect", "invalid"]),
  reasons: z.array(z.strictObject({ rule: z.string(), severity: severitySchema, text: z.string() })),
  /** Rules that could not be applied to this run, and why. */
  not_applicable: z.array(z.strictObject({ rule: z.string(), text: z.string() })),
});
export type Verdict = z.infer<typeof verdictSchema>;

export const runtimeFactsSchema = z.strictObject({
  id: z.string(),
  /** The store came with the project's Python packages. */
  embedded_store: z.boolean(),
  caps_applied: z.boolean(),
  /** By kind of role. Absent if none are applied. */
  caps: kindCapsSchema.optional(),
});

/** Milliseconds with microsecond precision. */
const latencySchema = z.strictObject({
  average: ms,
  p50: ms,
  p75: ms,
  p90: ms,
  p95: ms,
  p97_5: ms,
  p99: ms,
  p99_9: ms,
  min: ms,
  max: ms,
  stddev: ms,
});

/** Members of every result, measured or not. */
const identity = {
  schema: z.literal(RESULT_SCHEMA),
  schema_version: z.literal(RESULT_SCHEMA_VERSION),
  campaign: z.string().optional(),
  run: z.int().min(1),
  /** Absent if the generator was started by hand. */
  configuration: configurationSchema.optional(),
  configuration_hash: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  runtime: runtimeFactsSchema.optional(),
  /** Plugins of the campaign, or of a generator that was started by hand; absent without any. */
  plugins: z.array(pluginFactsSchema).optional(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  notes: z.array(z.string()),
};

/** The generator's settings, in every measured result, also for a foreign URL. */
const requestSchema = z.strictObject({
  layer: layerSchema,
  /** Base addresses, one per server; empty at the limiter layer. */
  urls: z.array(z.string()),
  label: z.string(),
  workload: z.string(),
  traffic: z.string(),
  load: loadSchema,
  extent: extentSchema,
  workers: z.int().min(1),
  warmup_s: z.number().min(0),
  seed: z.int().min(0),
  timeout_s: z.number().positive(),
});

export const measuredResultSchema = z.strictObject({
  ...identity,
  status: z.literal("measured"),
  request: requestSchema,
  /** Measured seconds: the length of the window. */
  duration: z.number().positive(),
  requests: z.strictObject({ average: z.number().min(0), total: count }),
  /** Over allowed and limited answers; absent when none came. In an open loop from the intended send (M3). */
  latency: latencySchema.optional(),
  /** Open loop only: the same answers, from the send. */
  service_time: latencySchema.optional(),
  /** Open loop only. */
  schedule: scheduleSchema.optional(),
  /** Percentiles with too few samples (M18), which reports mark. */
  unsupported: z.array(z.string()),
  rate_limit_hits: count,
  /** All servers, mean % of one core in the window. Absent without one of ours, like `memory_usage`. */
  cpu_usage: z.number().min(0).optional(),
  /** All servers, mean heap used, bytes. */
  memory_usage: z.number().min(0).optional(),
  /** All servers, mean resident set, bytes. */
  memory_resident: z.number().min(0).optional(),
  errors: count,
  timeouts: count,
  totalErrors: count,
  counts: countsSchema,
  generators: z.array(generatorPartSchema).min(1),
  samples: z.array(sampleSchema),
  prediction: predictionSchema.optional(),
  /** Empty for a foreign URL. */
  consumers: z.array(consumerEvidenceSchema),
  /** Calls of the limiter per request in the window, and descriptors that one call decides; absent without a limiter. */
  calls_per_request: z.number().positive().optional(),
  descriptors_per_call: z.number().positive().optional(),
  store: storeEvidenceSchema.optional(),
  resources: z.record(z.string(), roleResourcesSchema),
  /** Absent if the system does not report it. */
  host_load: hostLoadSchema.optional(),
  versions: versionsSchema,
  /** By the available evidence: a generator that was started by hand has none of the store. */
  limited_by: limitedBySchema.optional(),
  verdict: verdictSchema,
});
export type MeasuredResult = z.infer<typeof measuredResultSchema>;

/** A run without figures: it is recorded as failed, never as zeros. */
export const failedResultSchema = z.strictObject({
  ...identity,
  status: z.enum(["failed", "aborted"]),
  failure: z.strictObject({ role: z.string(), text: z.string() }),
  verdict: verdictSchema,
});
export type FailedResult = z.infer<typeof failedResultSchema>;

export const resultSchema = z.discriminatedUnion("status", [measuredResultSchema, failedResultSchema]);
export type Result = z.infer<typeof resultSchema>;
