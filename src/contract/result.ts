import { z } from "zod";
import { throttlingSchema } from "../kit/control-groups.js";
import { clockChangeSchema } from "../kit/system-clock.js";
import { admissionsSchema, requestCountsSchema } from "./admissions.js";
import { boundarySchema } from "./boundary.js";
import {
  capsSchema,
  configurationSchema,
  extentSchema,
  kindCapsSchema,
  limitsSchema,
  loadSchema,
  warmupSchema,
  workloadSchema,
} from "./configuration.js";
import { diagnosisSchema } from "./diagnosis.js";
import { faultFiguresSchema } from "./fault-figures.js";
import { faultRecordSchema } from "./faults.js";
import { driverLayerSchema } from "./layers.js";
import { runLinkSchema } from "./machines.js";
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
import { serviceEvidenceSchema } from "./service.js";
import { storeEvidenceSchema } from "./store.js";
import { algorithms } from "./target.js";
import { timelineSchema } from "./timeline.js";
import { turnsFactsSchema } from "./turns.js";

export const RESULT_SCHEMA = "ratelimit-bench/result";
/**
 * History: 1 — first format; 2 — layers, any number of servers, stores that do not speak RESP,
 * roles by kind; 3 — turns; 4 — what the report reads instead of deriving it: the text of the load,
 * facts of the target, the curve of the latencies.
 *
 * Programs of this language read this version alone. Older documents are converted in one place,
 * `report/results/older_documents.py`, when the report or `ratelimit-bench judge` loads them:
 * campaigns are not resumed across versions, so that a second converter here would have nobody to
 * serve.
 */
export const RESULT_SCHEMA_VERSION = 4;

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
 * How requests in flight ended after the window had closed. In latency, but not in throughput
 * (M23).
 */
const afterWindowSchema = z.strictObject({
  allowed: count,
  limited: count,
  failed_answers: count,
  connection_errors: count,
  timed_out: count,
});
export type AfterWindow = z.infer<typeof afterWindowSchema>;

/**
 * All sent requests by what became of them in the window (M8):
 * sent = allowed + limited + failed_answers + connection_errors + timed_out + followed + cut.
 */
const countsSchema = z.strictObject({
  sent: count,
  allowed: count,
  limited: count,
  failed_answers: count,
  connection_errors: count,
  timed_out: count,
  /** In flight when the window closed, at most one per connection, and followed to their end. */
  followed: count,
  after_window: afterWindowSchema,
  /** In flight when the window closed and not followed: 0 since requests are followed. */
  cut: count,
  /**
   * Answers in the window by the driver's code: the HTTP status, or at the limiter layer the
   * outcome.
   */
  by_code: z.record(z.string().regex(/^[0-9a-z_-]{1,40}$/), count),
});
export type Counts = z.infer<typeof countsSchema>;

/**
 * Latencies of all answers, also of followed requests, by outcome. `censored`: the ages of requests
 * without an answer when they were given up (timed out, lost, dropped) or when the window closed
 * (never sent).
 */
const latencyHistogramsSchema = z.strictObject({
  allowed: histogramSchema,
  limited: histogramSchema,
  failed: histogramSchema,
  censored: histogramSchema,
});
export type LatencyHistograms = z.infer<typeof latencyHistogramsSchema>;

/**
 * What each 100 ms of the window counted; the last slice may be shorter. Answers count when they
 * arrive.
 */
const slicesSchema = z.strictObject({
  width_ms: z.literal(100),
  allowed: z.array(count),
  limited: z.array(count),
  failed: z.array(count),
  /** Sum of the latencies of allowed and limited answers, microseconds. */
  latency_sum_us: z.array(count),
});
export type Slices = z.infer<typeof slicesSchema>;

/**
 * A physical link of the generator's machine that states its rate, and the bytes on it in lead-in
 * and window.
 */
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
  event_loop_utilisation: z.number().min(0).max(1),
  /**
   * 0 to 1: share of the window in which it was ready to run but had no CPU. Absent if the system
   * does not report it.
   */
  cpu_wait_share: z.number().min(0).max(1).optional(),
});

/**
 * One load generator. A run has one or more; the figures of the run come from their merged
 * histograms.
 */
const generatorPartSchema = z.strictObject({
  id: z.string(),
  workers: z.array(generatorWorkerSchema).min(1),
  counts: countsSchema,
  window_s: z.number().positive(),
  /**
   * Only of several generators: how long after the first window this one opened, by the
   * orchestrator's clock.
   */
  opened_after_ms: z.number().min(0).optional(),
  /** CPU time of the whole generator process in lead-in and window. */
  cpu_us: count,
  resident_bytes: count,
  /**
   * The longest gap between two looks of a thread that sends at its clock, from the lead-in to the
   * last answer, in which the process used less than half a CPU, without the time in which the
   * thread waited for a CPU (M36); by turns the longest in a turn of its group. Absent in older
   * results.
   */
  longest_gap_ms: ms.optional(),
  /**
   * Absent where the system reports none: in containers, on most virtual machines, and outside
   * Linux.
   */
  links: z.array(linkSchema).min(1).optional(),
  /** In an open loop from the intended send, in a closed loop from the send (M3). */
  histograms: latencyHistogramsSchema,
  /** Open loop only: from the send. Requests that were never sent are not in it. */
  service_histograms: latencyHistogramsSchema.optional(),
  /**
   * Open loop only. `lateness`: time from the intended to the actual send, of the sends that did
   * not wait for a connection. `gaps`: time between two sends that follow each other in one worker.
   */
  schedule: z
    .strictObject({
      ...scheduleCountsSchema.shape,
      lateness: histogramSchema,
      gaps: histogramSchema,
      shared_wakes: z.boolean(),
    })
    .optional(),
});
export type GeneratorPart = z.infer<typeof generatorPartSchema>;

/** One second of the measured window (the last one may be shorter). */
const sampleSchema = z.strictObject({
  t_s: z.number().positive(),
  interval_s: z.number().positive(),
  allowed: count,
  limited: count,
  failed: count,
  p50_ms: ms.optional(),
  p99_ms: ms.optional(),
  generator_event_loop_utilisation: z.number().min(0).max(1).optional(),
  /**
   * The usage of all servers together, like the two below; the utilisation is that of the busiest.
   */
  server_cpu_percent: z.number().min(0).optional(),
  server_heap_used_bytes: count.optional(),
  server_resident_bytes: count.optional(),
  server_event_loop_utilisation: z.number().min(0).max(1).optional(),
});
export type Sample = z.infer<typeof sampleSchema>;

/**
 * The resources that one role used in lead-in and window, from cumulative counters at both ends.
 */
const roleResourcesSchema = z.strictObject({
  kind: measuredKindSchema,
  /** How it was read, e.g. `process.cpuUsage`, `pidusage`, `cgroup`. */
  source: z.string(),
  cpu_us: count,
  cpu_percent: z.number().min(0),
  /**
   * Per request answered between the drained readings or, without a count, per sent request or
   * decision.
   */
  cpu_us_per_request: z.number().min(0).optional(),
  /**
   * How long its threads were ready to run but had no CPU. Absent if the system does not report it.
   */
  run_delay_us: count.optional(),
  /** By turns: CPU time that it used while others had the load; it is in no other figure. */
  idle_us: count.optional(),
  resident_bytes_mean: count.optional(),
  resident_bytes_max: count.optional(),
  resident_bytes_at_window_open: count.optional(),
  resident_bytes_at_end: count.optional(),
  caps: capsSchema.optional(),
  /** Throttling by the CPU cap in the window, in periods of the scheduler. Absent without a cap. */
  throttling: throttlingSchema.optional(),
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

/**
 * From this percentage of one CPU on, a run is suspect: by turns, where it cancels, half of all
 * CPUs (M25).
 */
export const foreignLimitPercent = (byTurns: boolean, cpus: number): number =>
  byTurns ? 50 * cpus : FOREIGN_CPU_PERCENT;

/**
 * How busy the machine was in lead-in and window. Percentages are of one CPU: two busy CPUs are
 * 200.
 */
const hostLoadSchema = z.strictObject({
  cpus: z.int().min(1),
  busy_cpu_percent: z.number().min(0),
  /**
   * CPU time of everything except the roles and the harness (M25). With an external store it is a
   * lower bound: the whole CPU time of the store is subtracted, because the store may run on this
   * machine.
   */
  foreign_cpu_percent: z.number().min(0),
  /**
   * The CPUs that our processes may use, by their affinity and their cpuset; absent: all of them.
   */
  cpus_allowed: z.int().min(1).optional(),
});
export type HostLoad = z.infer<typeof hostLoadSchema>;

/**
 * A process that calls the limiter, as it reports itself: one of our servers or, at the limiter
 * layer, the generator.
 */
const consumerEvidenceSchema = z.strictObject({
  id: z.string(),
  run_nonce: z.string(),
  target: z.string(),
  /** Empty at the limiter layer. */
  workloads: z.array(workloadSchema),
  /**
   * The limiter's script, which separates the client from its script; absent where no script
   * decides.
   */
  limiter_script: limiterScriptSchema.optional(),
  client_settings: clientSettingsSchema,
  plugins: z.array(pluginFactsSchema).optional(),
  /**
   * Readings at drained moments: before any load, when the window opened, after the last answer.
   */
  at_start: usageSchema,
  at_window_open: usageSchema,
  at_end: usageSchema,
  consumes: consumesSchema.optional(),
});
export type ConsumerEvidence = z.infer<typeof consumerEvidenceSchema>;

const predictionSchema = z.strictObject({
  limited_share: z.number().min(0).max(1),
  seen_share: z.number().min(0).max(1),
  tolerance: z.number().min(0),
  /**
   * `traffic`: fixed by the profile, whatever the client's speed. `limits`: by explicit limits,
   * depends on the speed.
   */
  basis: z.enum(["traffic", "limits"]),
});

/** The resource that limited the run, with the figures; `none` if nothing was used up. */
const limitedBySchema = z.strictObject({
  resource: z.enum([
    "server loop",
    "server CPU",
    "service CPU",
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
/** A rule that said nothing about a run, and why. */
export const ruleTextSchema = z.strictObject({ rule: z.string(), text: z.string() });
export type RuleText = z.infer<typeof ruleTextSchema>;

export const verdictSchema = z.strictObject({
  /** The version of the rules that judged; absent in results that are older than the number. */
  rules_version: z.int().min(1).optional(),
  status: z.enum(["valid", "suspect", "invalid"]),
  reasons: z.array(
    z.strictObject({ rule: z.string(), severity: severitySchema, text: z.string() }),
  ),
  /** Rules that could not be applied to this run, and why. */
  not_applicable: z.array(ruleTextSchema),
  /**
   * Rules whose evidence the result does not hold, because it is older than they are. Absent where
   * there is none.
   */
  not_checked: z.array(ruleTextSchema).optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;

export const runtimeFactsSchema = z.strictObject({
  id: z.string(),
  /** The store came with the project's Python packages. */
  embedded_store: z.boolean(),
  caps_applied: z.boolean(),
  caps: kindCapsSchema.optional(),
});

/** Figures of a latency block that requests without an answer can move. */
export const movableFigures = [
  "average",
  "p50",
  "p75",
  "p90",
  "p95",
  "p97_5",
  "p99",
  "p99_9",
  "max",
] as const;
export type MovableFigure = (typeof movableFigures)[number];

/** A figure of at least `low` and at most `high` milliseconds; null: without an upper bound. */
const boundsSchema = z.strictObject({ low: ms, high: ms.nullable() });
export type Bounds = z.infer<typeof boundsSchema>;

const figure = ms.nullable();

/**
 * Milliseconds with microsecond precision. A figure that failed or censored requests could move is
 * null, with its bounds in `bounds` (M23); `stddev` is null if there was any.
 */
const latencySchema = z.strictObject({
  average: figure,
  p50: figure,
  p75: figure,
  p90: figure,
  p95: figure,
  p97_5: figure,
  p99: figure,
  p99_9: figure,
  min: ms,
  max: figure,
  stddev: figure,
  /** Bounds of the figures that are null; absent where none is. */
  bounds: z.partialRecord(z.enum(movableFigures), boundsSchema).optional(),
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
  runtime: runtimeFactsSchema.optional(),
  /** Plugins of the campaign, or of a generator that was started by hand; absent without any. */
  plugins: z.array(pluginFactsSchema).optional(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime(),
  notes: z.array(z.string()),
  /**
   * Only of a run with instruments (`--diagnose`), which never counts: the instruments are in its
   * figures.
   */
  diagnosis: diagnosisSchema.optional(),
};

/** How busy one of several machines was in lead-in and window. */
const machineLoadSchema = z.strictObject({
  ...hostLoadSchema.shape,
  /** On all links that a program there sees, without loopback; absent where that is not counted. */
  network: z.strictObject({ received_bytes: count, sent_bytes: count }).optional(),
});
export type MachineLoad = z.infer<typeof machineLoadSchema>;

const machinesOfRun = {
  placement: z.record(z.string(), z.string()).optional(),
  /** Those between its machines that could be measured, as they were just before the campaign. */
  links: z.array(runLinkSchema).optional(),
  /** Load by machine, where it is counted; it takes the place of `host_load`. */
  machine_load: z.record(z.string(), machineLoadSchema).optional(),
};

const outsideOfRun = {
  /**
   * From the reading before the lead-in to that after the window, of the control groups in which
   * harness and roles ran together (M14, M36). Absent where roles have groups of their own, and
   * without a quota.
   */
  own_throttling: throttlingSchema.optional(),
  /** From the start to the end of the run (M36). Absent in results that are older than the rule. */
  clock_change: clockChangeSchema.optional(),
};

/** The generator's settings, in every measured result, also for a foreign URL. */
const requestSchema = z.strictObject({
  layer: driverLayerSchema,
  /** Base addresses, one per server; empty at the limiter layer. */
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

const warmupFactsSchema = z.strictObject({
  took_s: z.number().min(0),
  /**
   * Sent in it; of a closed loop without those in flight when the window opened, which count there.
   */
  requests: count,
  /**
   * Its last part, after the reading of the counters, which runs into the window without a pause.
   */
  lead_in: z.strictObject({ took_s: z.number().min(0), requests: count }),
  /** Only with `auto`: its last second had no trend; false: it ended at its longest. */
  steady: z.boolean().optional(),
});

/**
 * What the target did with the load (M24): served it, could not keep up with the offered rate, or
 * failed.
 */
export const outcomeStatuses = ["served", "overloaded", "failed"] as const;
export type OutcomeStatus = (typeof outcomeStatuses)[number];

/** What is concluded of a run by the rules of its verdict. */
export const judgementSchema = z.strictObject({
  /**
   * What limited the run, by the available evidence: a generator that was started by hand has none
   * of the store.
   */
  limited_by: limitedBySchema.optional(),
  /** Absent where the measurement is broken: then nothing is known about the target. */
  outcome: z.enum(outcomeStatuses).optional(),
  /** What it did with the figures, unless it served the load. */
  outcome_text: z.string().optional(),
});
export type Judgement = z.infer<typeof judgementSchema>;

export const measuredResultSchema = z.strictObject({
  ...identity,
  status: z.literal("measured"),
  request: requestSchema,
  duration: z.number().positive(),
  requests: z.strictObject({ average: z.number().min(0), total: count }),
  warmup: warmupFactsSchema,
  /** Of all answers, followed ones too (M23); in an open loop from the intended send (M3). */
  latency: latencySchema.optional(),
  /**
   * Milliseconds at `CURVE_PERCENTILES`, up to the first one that is not identified (M23); empty
   * without an answer.
   */
  latency_curve_ms: z.array(ms),
  service_time: latencySchema.optional(),
  schedule: scheduleSchema.optional(),
  /** Percentiles with too few samples (M18), which reports mark. */
  unsupported: z.array(z.string()),
  rate_limit_hits: count,
  /**
   * All servers, mean % of one core in lead-in and window. Absent without one of ours, like
   * `memory_usage`.
   */
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
  slices: slicesSchema,
  timeline: timelineSchema.optional(),
  prediction: predictionSchema.optional(),
  /** Empty for a foreign URL. */
  consumers: z.array(consumerEvidenceSchema),
  /**
   * Calls of the limiter per request, and descriptors that one call decides; absent without a
   * limiter.
   */
  calls_per_request: z.number().positive().optional(),
  descriptors_per_call: z.number().positive().optional(),
  store: storeEvidenceSchema.optional(),
  service: serviceEvidenceSchema.optional(),
  admissions: admissionsSchema.optional(),
  /** The planned faults as they took place; absent without any. */
  faults: z.array(faultRecordSchema).min(1).optional(),
  /** What they did to the requests; absent where none was injected. */
  fault_figures: faultFiguresSchema.optional(),
  /** Only with traffic `boundary`, on a target with a limiter. */
  boundary: boundarySchema.optional(),
  resources: z.record(z.string(), roleResourcesSchema),
  turns: turnsFactsSchema.optional(),
  ...outsideOfRun,
  /**
   * Seconds from the start of each server, all at once, until it was ready; by role. Absent without
   * a server.
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

/** What one of several generators adds to its result, so that they can be merged. */
const shareOutputSchema = z.strictObject({
  opened_at: z.iso.datetime(),
  /**
   * How long after the announced moment it opened, of the last worker: a process may stand still in
   * between.
   */
  opened_late_ms: z.number().min(0),
  /** Seconds from the first request of the warm-up to the opening; 0 without a warm-up. */
  opens_s: z.number().min(0),
  /**
   * What the servers or the limiter reported; absent without a limiter, and where another generator
   * read the servers.
   */
  limits: limitsSchema.optional(),
  algorithm: z.enum(algorithms).optional(),
  sample_latencies: z.array(histogramSchema),
  /** Only of a run with a timeline: the same by slice, and what else the timeline counts. */
  timeline: z
    .strictObject({
      latencies: z.array(histogramSchema),
      timed_out: z.array(count),
      dropped: z.array(count),
      due: z.array(count),
    })
    .optional(),
});
export type ShareOutput = z.infer<typeof shareOutputSchema>;

export const generatorOutputSchema = measuredResultSchema.extend({
  request_counts: requestCountsSchema.optional(),
  share: shareOutputSchema.optional(),
});
export type GeneratorOutput = z.infer<typeof generatorOutputSchema>;

/** What a load generator gives of each run of a group: its result, or why there is none. */
export const groupOutputSchema = z.array(
  z.union([generatorOutputSchema, z.strictObject({ failed: z.string() })]),
);
export type GroupOutput = z.infer<typeof groupOutputSchema>;

/** Operations of the store, or decisions, that are counted, before and after the load. */
const operationCallsSchema = z.strictObject({ before: count, after: count });

const storeMemorySchema = z.strictObject({
  keys: z.int().min(1),
  /** Used memory after the load less that of the empty store. */
  used_bytes: z.int(),
  bytes_per_key: z.number(),
});

/**
 * A run of a foreign program: the figures that it printed, and what the harness measured around it.
 */
export const printedResultSchema = z.strictObject({
  ...identity,
  status: z.literal("printed"),
  operation: workloadSchema,
  load: loadSchema,
  warmup_s: z.number().min(0),
  /** Seconds: the requests by the printed throughput. */
  duration: z.number().positive(),
  /** Seconds from the program's start to its end, by the clock of the harness. */
  program_s: z.number().positive(),
  operations: z.strictObject({
    total: z.int().min(1),
    per_second: z.number().positive(),
    /** How many more calls may have been counted: those under way at the end or the beginning. */
    more_at_most: count.optional(),
  }),
  /** Milliseconds, as the program prints them. */
  latency: z.strictObject({ average: ms, min: ms, p50: ms, p95: ms, p99: ms, max: ms }),
  program: z.strictObject({
    id: z.string(),
    version: z.string(),
    arguments: z.array(z.string()),
    output: z.string(),
  }),
  /** Calls of the operation's command or decisions, as store or service counted them. */
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

/** A run without figures: it is recorded as failed, never as zeros. */
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
 * Whether a run ended with figures: our own generator measured them, or a foreign program printed
 * them.
 */
export const hasFigures = (result: Result): result is MeasuredResult | PrintedResult =>
  result.status === "measured" || result.status === "printed";
