import type { GeneratorEnv } from "../contract/generator-env.js";
import { mean, rounded } from "../contract/numbers.js";
import {
  type EncodedHistogram,
  type GeneratorPart,
  type MeasuredResult,
  type NetworkLink,
  type Outcome,
  RESULT_SCHEMA,
  RESULT_SCHEMA_VERSION,
  type RoleResources,
  type Sample,
} from "../contract/result.js";
import { addCounts, answered, failed, served } from "../judge/counts.js";
import type { Evidence } from "../judge/evidence.js";
import { encodeHistogram, mergeHistograms } from "../judge/histogram.js";
import { latencyBlock, unsupportedPercentiles } from "../judge/latency.js";
import { limitOf } from "../judge/limit.js";
import { judge } from "../judge/rules.js";
import { addSchedules, scheduleOf } from "../judge/schedule-summary.js";
import type { ServerSample } from "./measurement/monitor.js";
import { predictionFor } from "./measurement/prediction.js";
import { cpuUs, type ServerReadings } from "./measurement/server-readings.js";
import { generatorVersions } from "./versions.js";
import type { Measured } from "./workers/protocol.js";

/** Everything that one run of the generator measured. */
export interface RunMeasurements {
  work: GeneratorEnv;
  started_at: Date;
  finished_at: Date;
  /** One entry per worker, all of the same window. */
  measured: readonly (Measured & { connections: number })[];
  generatorCpuUs: number;
  /** Bytes on the machine's links in the window. */
  links: NetworkLink[];
  samples: Sample[];
  serverSamples: readonly ServerSample[];
  server?: ServerReadings;
  notes: string[];
}

type Histograms = GeneratorPart["histograms"];

/** Merges the histograms of all workers, by outcome. */
function mergedOutcomes(workers: readonly Histograms[]): Histograms {
  const merged = (outcome: Outcome): EncodedHistogram =>
    encodeHistogram(mergeHistograms(workers.map((histograms) => histograms[outcome])));
  return { allowed: merged("allowed"), limited: merged("limited"), failed: merged("failed") };
}

function generatorPart({ measured, generatorCpuUs, links }: RunMeasurements): GeneratorPart {
  const opened = Math.min(...measured.map(({ opened_ms }) => opened_ms));
  const closed = Math.max(...measured.map(({ closed_ms }) => closed_ms));
  const service = measured.flatMap(({ service_histograms }) => service_histograms ?? []);
  const schedules = measured.flatMap(({ schedule }) => schedule ?? []);
  return {
    id: "generator",
    workers: measured.map(({ connections, counts, event_loop_utilisation, cpu_wait_share }) => ({
      connections,
      counts,
      event_loop_utilisation: rounded(event_loop_utilisation, 4),
      ...(cpu_wait_share === undefined ? {} : { cpu_wait_share: rounded(cpu_wait_share, 4) }),
    })),
    counts: addCounts(measured.map(({ counts }) => counts)),
    window_s: rounded((closed - opened) / 1000, 6),
    cpu_us: generatorCpuUs,
    resident_bytes: process.memoryUsage.rss(),
    ...(links.length > 0 ? { links } : {}),
    histograms: mergedOutcomes(measured.map(({ histograms }) => histograms)),
    ...(service.length > 0 ? { service_histograms: mergedOutcomes(service) } : {}),
    ...(schedules.length > 0 ? { schedule: addSchedules(schedules) } : {}),
  };
}

/** CPU time of one role over the window, in total and per request. */
function cpuOf(cpu_us: number, window_s: number, requests: number) {
  return {
    cpu_us,
    cpu_percent: rounded(cpu_us / window_s / 10_000, 2),
    ...(requests > 0 ? { cpu_us_per_request: rounded(cpu_us / requests, 2) } : {}),
  };
}

function resourcesOf(measurements: RunMeasurements, part: GeneratorPart): Record<string, RoleResources> {
  const { server, serverSamples } = measurements;
  const requests = served(server, part.counts);
  const generator: RoleResources = {
    source: "process.cpuUsage",
    ...cpuOf(part.cpu_us, part.window_s, requests),
    resident_bytes_max: part.resident_bytes,
    samples: [],
  };
  if (!server) return { generator };
  const { at_window_open, at_end } = server;
  const resident = [
    ...serverSamples.map((sample) => sample.resident_bytes),
    at_window_open.resident_bytes,
    at_end.resident_bytes,
  ];
  return {
    generator,
    server: {
      source: "process.cpuUsage",
      ...cpuOf(cpuUs(at_end) - cpuUs(at_window_open), part.window_s, requests),
      resident_bytes_mean: Math.round(mean(resident)),
      resident_bytes_max: Math.max(...resident),
      // The server's samples are in the samples of the run.
      samples: [],
    },
  };
}

function serverFigures({ server, serverSamples }: RunMeasurements, resources: Record<string, RoleResources>) {
  const role = resources.server;
  if (!server || !role) return {};
  const heap = serverSamples.map((sample) => sample.heap_used_bytes);
  const ends = [server.at_window_open.heap_used_bytes, server.at_end.heap_used_bytes];
  return {
    cpu_usage: role.cpu_percent,
    memory_usage: Math.round(mean(heap.length > 0 ? heap : ends)),
    memory_resident: role.resident_bytes_mean ?? 0,
  };
}

function serverEvidence({ health, at_start, at_window_open, at_end }: ServerReadings): Evidence["server"] {
  const before = at_window_open.consumes;
  const after = at_end.consumes;
  return {
    run_nonce: health.run_nonce,
    target: health.target.text,
    workloads: health.workloads,
    ...(health.limiter_script ? { limiter_script: health.limiter_script } : {}),
    client_settings: health.client_settings,
    ...(health.plugins ? { plugins: health.plugins } : {}),
    at_start,
    at_window_open,
    at_end,
    ...(before && after
      ? {
          consumes: {
            allowed: after.allowed - before.allowed,
            limited: after.limited - before.limited,
            failed: after.failed - before.failed,
          },
        }
      : {}),
  };
}

function requestOf(work: GeneratorEnv): MeasuredResult["request"] {
  return {
    url: work.url,
    label: work.label,
    workload: work.workload,
    traffic: work.traffic,
    connections: work.connections,
    ...(work.open ? { rate_per_second: work.open.ratePerSecond, arrivals: work.open.arrivals } : {}),
    workers: work.workers,
    warmup_s: work.warmupS,
    seed: work.seed,
    timeout_s: work.timeoutS,
    ...(work.durationS === undefined ? {} : { duration_s: work.durationS }),
    ...(work.requests === undefined ? {} : { requests: work.requests }),
  };
}

/** Latencies of the answers; undefined where nothing was answered. */
const answersOf = ({ allowed, limited }: Histograms) => latencyBlock(mergeHistograms([allowed, limited]));

/** The members that an open loop adds to the result. */
function openLoopFigures({ work }: RunMeasurements, part: GeneratorPart) {
  const { schedule, service_histograms, window_s } = part;
  if (!work.open || !schedule || !service_histograms) return {};
  const service_time = answersOf(service_histograms);
  return {
    schedule: scheduleOf(work.open, schedule, window_s),
    ...(service_time ? { service_time } : {}),
  };
}

/** The result document of one run, judged by the evidence of the generator alone. */
export function buildResult(measurements: RunMeasurements): MeasuredResult {
  const { work, server } = measurements;
  const part = generatorPart(measurements);
  const { counts, window_s } = part;
  const answers = answered(counts);
  const latency = answersOf(part.histograms);
  const prediction = server && predictionFor(work, server, counts, window_s);
  const resources = resourcesOf(measurements, part);
  const evidence: Evidence = {
    schema: RESULT_SCHEMA,
    schema_version: RESULT_SCHEMA_VERSION,
    run: 1,
    started_at: measurements.started_at.toISOString(),
    finished_at: measurements.finished_at.toISOString(),
    notes: measurements.notes,
    status: "measured",
    request: requestOf(work),
    duration: window_s,
    requests: { average: rounded(answers / window_s, 3), total: answers },
    ...(latency ? { latency } : {}),
    ...openLoopFigures(measurements, part),
    unsupported: unsupportedPercentiles(answers),
    rate_limit_hits: counts.limited,
    ...serverFigures(measurements, resources),
    errors: counts.connection_errors,
    timeouts: counts.timed_out,
    totalErrors: failed(counts),
    counts,
    generators: [part],
    samples: measurements.samples,
    ...(prediction ? { prediction } : {}),
    ...(server ? { server: serverEvidence(server) } : {}),
    resources,
    versions: { ...generatorVersions(), ...server?.health.versions },
  };
  return { ...evidence, limited_by: limitOf(evidence), verdict: judge(evidence) };
}
