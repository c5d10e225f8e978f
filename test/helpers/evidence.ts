import {
  type Configuration,
  configurationHash,
  loadText,
} from "../../src/contract/configuration.js";
import type { ConsumerEvidence } from "../../src/contract/consumer-evidence.js";
import type { GeneratorPart } from "../../src/contract/generator-part.js";
import type { Counts, Slices } from "../../src/contract/request-outcomes.js";
import { RESULT_SCHEMA_VERSION } from "../../src/contract/result.js";
import type { MeasuredKind } from "../../src/contract/role.js";
import type { RoleResources } from "../../src/contract/role-resources.js";
import type { Schedule } from "../../src/contract/schedule.js";
import type { Usage } from "../../src/contract/server-api.js";
import type { StoreReading } from "../../src/contract/store.js";
import { admissionsOf } from "../../src/judge/admission-accounting.js";
import type { Evidence } from "../../src/judge/evidence.js";
import { createHistogram, encodeHistogram, mergeHistograms } from "../../src/judge/histogram.js";
import { latencyBlock, latencyCurve } from "../../src/judge/latency.js";
import { definedOnly } from "../../src/kit/defined-only.js";

const ALLOWED = 9_000;
const LIMITED = 1_000;
/** In flight when the window closed; all of them were answered. */
const FOLLOWED = { allowed: 4, limited: 1 };
const SENT = ALLOWED + LIMITED + FOLLOWED.allowed + FOLLOWED.limited;
const WARMUP = 2_000;
const CONNECTIONS = 10;
const DURATION_S = 5;
/** What makes Little's law hold: connections ÷ throughput. */
const LATENCY_US = (CONNECTIONS * DURATION_S * 1e6) / (ALLOWED + LIMITED);

/** `count` latencies, all the same. */
export const histogramOf = (count: number, us = LATENCY_US) => {
  const histogram = createHistogram();
  if (count > 0) histogram.recordValueWithCount(us, count);
  return encodeHistogram(histogram);
};

/** These latencies, microseconds. */
export const histogramWith = (values: readonly number[] = []) => {
  const histogram = createHistogram();
  for (const value of values) histogram.recordValue(value);
  return encodeHistogram(histogram);
};

export const configuration: Configuration = {
  layer: "server",
  target: {
    text: "iovalkey@valkey:standalone",
    label: "iovalkey",
    client: "iovalkey",
    store: "valkey",
    topology: "standalone",
    limiter: "rate-limiter-flexible",
    decided_by: "library",
    options: [],
  },
  servers: 1,
  workload: { id: "light" },
  traffic: "realistic",
  load: { model: "closed", connections: CONNECTIONS },
  extent: { duration_s: DURATION_S },
  limits: { points: 1_000_000_000, window_s: 60, block_s: 0 },
  caps: {},
};

const counts: Counts = {
  sent: SENT,
  allowed: ALLOWED,
  limited: LIMITED,
  failed_answers: 0,
  connection_errors: 0,
  timed_out: 0,
  followed: FOLLOWED.allowed + FOLLOWED.limited,
  after_window: { ...FOLLOWED, failed_answers: 0, connection_errors: 0, timed_out: 0 },
  cut: 0,
  by_code: { "200": ALLOWED, "429": LIMITED },
};

export const usage = (change: Partial<Usage>): Usage => ({
  run_nonce: "nonce-1",
  uptime_s: 1,
  cpu_user_us: 1_000_000,
  cpu_system_us: 200_000,
  heap_used_bytes: 20_000_000,
  resident_bytes: 80_000_000,
  event_loop_active_ms: 100,
  event_loop_idle_ms: 900,
  requests: 0,
  in_flight: 0,
  consumes: { calls: 0, allowed: 0, limited: 0, failed: 0 },
  ...change,
});

export const reading = (change: Partial<StoreReading> = {}): StoreReading => ({
  run_id: "store-run-1",
  version: "9.1.2",
  uptime_s: 3,
  keys: 0,
  evicted_keys: 0,
  expired_keys: 0,
  used_memory_bytes: 2_000_000,
  decisions: 0,
  script_calls: {},
  cpu_user_us: 10_000,
  cpu_system_us: 10_000,
  ...change,
});

export const role = (
  kind: MeasuredKind,
  cpu_percent = 20,
  more: Partial<RoleResources> = {},
): RoleResources => ({
  kind,
  source: "pidusage",
  cpu_us: 1_000_000,
  cpu_percent,
  samples: [],
  ...more,
});

const part = (): GeneratorPart => ({
  id: "generator-1",
  workers: [
    { connections: CONNECTIONS, counts: structuredClone(counts), event_loop_utilisation: 0.5 },
  ],
  counts: structuredClone(counts),
  window_s: DURATION_S,
  cpu_us: 1_000_000,
  resident_bytes: 90_000_000,
  longest_gap_ms: 21.3,
  histograms: {
    allowed: histogramOf(ALLOWED + FOLLOWED.allowed),
    limited: histogramOf(LIMITED + FOLLOWED.limited),
    failed: histogramOf(0),
    censored: histogramOf(0),
  },
});

/** Consumes of the whole life of the server in the valid evidence: warm-up and window. */
export const CONSUMES = SENT + WARMUP;

type Whole = "store" | "prediction";
export type ValidRun = Omit<Evidence, Whole> & { [Part in Whole]-?: NonNullable<Evidence[Part]> };

const decided = (calls: number, limited: number) => ({
  calls,
  allowed: calls - limited,
  limited,
  failed: 0,
});

const consumer = (): ConsumerEvidence => ({
  id: "server-1",
  run_nonce: "nonce-1",
  target: configuration.target.text,
  workloads: [{ id: "light" }, { id: "heavy", complexity: 10 }],
  limiter_script: { kind: "evalsha", name_or_sha1: "0".repeat(40) },
  client_settings: { protocol: "RESP2" },
  at_start: usage({}),
  at_window_open: usage({ uptime_s: 3, requests: WARMUP, consumes: decided(WARMUP, 200) }),
  at_end: usage({ uptime_s: 9, requests: CONSUMES, consumes: decided(CONSUMES, 1_201) }),
});

/** What the slices of a window of constant speed count. */
function steadySlices(): Slices {
  const count = 10 * DURATION_S;
  const evenShares = (total: number): number[] =>
    Array.from({ length: count }, () => total / count);
  return {
    width_ms: 100,
    allowed: evenShares(ALLOWED),
    limited: evenShares(LIMITED),
    failed: evenShares(0),
    latency_sum_us: evenShares((ALLOWED + LIMITED) * LATENCY_US),
  };
}

/**
 * A run of our own server on a store to which no rule objects. Each call gives a copy that may be
 * spoilt.
 */
export function validEvidence(): ValidRun {
  const generator = part();
  const latency = latencyBlock([generator.histograms]);
  const at_end = reading({ uptime_s: 12, keys: 5_000, ...evalsha(CONSUMES + 1, 1) });
  return structuredClone({
    schema: "ratelimit-bench/result" as const,
    schema_version: RESULT_SCHEMA_VERSION,
    campaign: "20260101_000000",
    run: 1,
    configuration,
    configuration_hash: configurationHash(configuration),
    load_text: loadText(configuration),
    runtime: { id: "local", embedded_store: true, caps_applied: false },
    started_at: "2026-01-01T00:00:00.000Z",
    finished_at: "2026-01-01T00:00:10.000Z",
    notes: [],
    status: "measured" as const,
    request: {
      layer: "server" as const,
      urls: ["http://127.0.0.1:3001"],
      label: "iovalkey",
      workload: "light",
      traffic: "realistic",
      load: configuration.load,
      extent: configuration.extent,
      workers: 1,
      warmup_s: 1,
      seed: 1,
      timeout_s: 10,
    },
    duration: DURATION_S,
    requests: { average: (ALLOWED + LIMITED) / DURATION_S, total: ALLOWED + LIMITED },
    warmup: { took_s: 1, requests: WARMUP, lead_in: { took_s: 0, requests: 0 } },
    ...definedOnly({ latency }),
    latency_curve_ms: latencyCurve([generator.histograms]),
    unsupported: ["p99_9"],
    rate_limit_hits: LIMITED,
    cpu_usage: 50,
    memory_usage: 20_000_000,
    memory_resident: 80_000_000,
    errors: 0,
    timeouts: 0,
    totalErrors: 0,
    counts,
    generators: [generator],
    samples: [],
    slices: steadySlices(),
    prediction: { limited_share: 0.1, seen_share: 0.1, tolerance: 0.01, basis: "traffic" as const },
    admissions: admissionsOf([{ key: "user-1", least: 40, most: 40, counted: 40 }]),
    consumers: [consumer()],
    calls_per_request: 1,
    descriptors_per_call: 1,
    store: {
      nodes: [{ role: "store-1", at_start: reading(), at_end }],
      settings: { maxmemory: "1073741824" },
      external: false,
    },
    resources: {
      "server-1": role("server"),
      "generator-1": role("generator"),
      "store-1": role("store"),
    },
    host_load: { cpus: 4, busy_cpu_percent: 62, foreign_cpu_percent: 2 },
    clock_change: { changed_ms: 0.4, over_s: 9.5 },
    versions: { node: "24.0.0", client: "0.4.0", limiter: "11.4.0", store: "9.1.2" },
  });
}

/** The valid run as an open loop of 2000/s that kept its schedule, but for these changes. */
export function openLoopEvidence(change: Partial<Schedule> = {}, connections = 200): ValidRun {
  const run = validEvidence();
  const { sent } = run.counts;
  const load = { rate_per_second: 2000, arrivals: "constant" } as const;
  run.request.load = { model: "open", ...load, connections };
  const none = { blocked: 0, dropped: 0, unsent: 0, late_percentiles: [], shared_wakes: false };
  const kept = {
    late: 3,
    achieved_per_second: 2001,
    lateness_ms: { p50: 0.07, p90: 0.1, p99: 0.3, max: 2 },
  };
  run.schedule = { ...load, ...none, offered: sent, sent, ...kept, ...change };
  // Sends that were never made are censored.
  const { dropped, unsent } = run.schedule;
  generatorOf(run).histograms.censored = histogramOf(dropped + unsent);
  return run;
}

/** The run's only generator. */
export function generatorOf(run: ValidRun): GeneratorPart {
  const [generator] = run.generators;
  if (!generator) throw new Error("a generator");
  return generator;
}

/** Divides the run's load between its generator and a second one, which is returned. */
export function addGenerator(run: ValidRun): GeneratorPart {
  const [first, second] = [
    generatorOf(run),
    { ...structuredClone(generatorOf(run)), id: "generator-2" },
  ];
  for (const part of [first, second]) {
    const half = (count: number): number =>
      part === first ? Math.ceil(count / 2) : Math.floor(count / 2);
    const { by_code, after_window, ...others } = part.counts;
    const halved = <Each extends Record<string, number>>(counts: Each): Each =>
      Object.fromEntries(
        Object.entries(counts).map(([name, count]) => [name, half(count)]),
      ) as Each;
    part.counts = {
      ...halved(others),
      by_code: halved(by_code),
      after_window: halved(after_window),
    };
    // Of each outcome an odd count may be divided differently from the sum.
    const { counts } = part;
    counts.followed = counts.after_window.allowed + counts.after_window.limited;
    counts.sent = counts.allowed + counts.limited + counts.followed;
    for (const worker of part.workers) {
      worker.connections = half(worker.connections);
      worker.counts = structuredClone(counts);
    }
    part.histograms = {
      ...part.histograms,
      allowed: histogramOf(counts.allowed + counts.after_window.allowed),
      limited: histogramOf(counts.limited + counts.after_window.limited),
    };
  }
  run.generators.push(second);
  const generator = run.resources["generator-1"];
  if (generator) run.resources["generator-2"] = structuredClone(generator);
  return second;
}

/** The run's first store node. */
export function storeOf(run: ValidRun): { at_start: StoreReading; at_end: StoreReading } {
  const [node] = run.store.nodes;
  if (!node) throw new Error("a store node");
  return node;
}

/** The run's only server. */
export function serverOf(run: ValidRun): ConsumerEvidence {
  const [server] = run.consumers;
  if (!server) throw new Error("a server");
  return server;
}

/** What a store reports that ran so many scripts. */
export const evalsha = (calls: number, failed = 0) => ({
  decisions: calls - failed,
  script_calls: { evalsha: { calls, failed } },
});

/** The evidence of a run at the limiter layer: the generator consumes, and no server. */
export function limiterLayerEvidence(): ValidRun {
  const run = validEvidence();
  const { "server-1": _server, ...resources } = run.resources;
  return {
    ...run,
    configuration: { ...configuration, layer: "limiter", servers: 0, workload: { id: "none" } },
    request: { ...run.request, layer: "limiter", urls: [], workload: "none" },
    consumers: [{ ...serverOf(run), id: "generator-1", workloads: [] }],
    resources,
  };
}

/**
 * Adds requests that failed in the window, or after its close, everywhere where they are counted.
 */
export function addFailures(
  run: ValidRun,
  kind: "failed_answers" | "connection_errors" | "timed_out",
  count: number,
  when: "in the window" | "after it" = "in the window",
) {
  for (const counts of [run.counts, generatorOf(run).counts]) {
    counts.sent += count;
    if (when === "in the window") counts[kind] += count;
    else {
      counts.after_window[kind] += count;
      counts.followed += count;
    }
  }
  const { histograms } = generatorOf(run);
  const kept = kind === "failed_answers" ? "failed" : "censored";
  histograms[kept] = encodeHistogram(mergeHistograms([histograms[kept], histogramOf(count)]));
  if (when === "in the window") run.slices.failed[0] = (run.slices.failed[0] ?? 0) + count;
  const latency = latencyBlock([histograms]);
  if (latency) run.latency = latency;
  serverOf(run).at_end.requests += count;
}
