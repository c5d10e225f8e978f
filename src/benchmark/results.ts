import { loadText } from "../contract/configuration.js";
import type { ConsumerEvidence } from "../contract/consumer-evidence.js";
import type { Diagnosis } from "../contract/diagnosis.js";
import type { GeneratorRunSpec } from "../contract/generator-env.js";
import type { ShareOutput } from "../contract/generator-output.js";
import type { GeneratorPart, NetworkLink, Sample } from "../contract/generator-part.js";
import type { EncodedHistogram, LatencyHistograms } from "../contract/latency-figures.js";
import { type MeasuredResult, RESULT_SCHEMA, RESULT_SCHEMA_VERSION } from "../contract/result.js";
import type { RoleResources } from "../contract/role-resources.js";
import type { Consumes, Usage } from "../contract/server-api.js";
import type { TurnsRecord } from "../contract/turns.js";
import { addCounts, hasRestarted, loadedS, servedRequests } from "../judge/counts.js";
import {
  byLatencyKind,
  createHistogram,
  encodeHistogram,
  mergeHistograms,
} from "../judge/histogram.js";
import { judged } from "../judge/judged.js";
import { callFigures, runFigures } from "../judge/merging/merge-generators.js";
import { mergeSlices, mergeTimelineSlices } from "../judge/merging/slices.js";
import { addSchedules } from "../judge/schedule-summary.js";
import { definedOnly } from "../kit/defined-only.js";
import { grown, mean, rounded, sum } from "../kit/numbers.js";
import type { ClockComparison } from "../kit/system-clock.js";
import { findProfile } from "../traffic/lookup.js";
import { predictionFor } from "../traffic/outcome-mix.js";
import type { LoadPhase } from "../traffic/prediction.js";
import type { TrafficProfile } from "../traffic/traffic-types.js";
import { generatorVersions } from "./generator-versions.js";
import { type AnswerLog, latenciesBySlice, timelineOf } from "./measurement/answer-timeline.js";
import { boundaryFor } from "./measurement/boundary-counts.js";
import { wallOffsetMs, wallTime } from "./measurement/clock.js";
import type { ConsumerReadings } from "./measurement/consumers.js";
import { generatorId } from "./measurement/generator-readings.js";
import type { ServerMonitor } from "./measurement/monitor.js";
import { cpuUs } from "./measurement/server-readings.js";
import type { TurnFigures } from "./turn-window.js";
import type { Measured } from "./workers/protocol.js";

/** What one of several generators adds to its result, so that the results can be merged. */
export function shareOutput(
  measurements: RunMeasurements,
  latencies: readonly (readonly Uint32Array[])[],
): ShareOutput {
  const { opens_ms, opens_s, consumers, measured } = measurements;
  const timeline = timelineShare(measurements);
  return definedOnly({
    opened_at: wallTime(opens_ms).toISOString(),
    opened_late_ms: rounded(
      Math.max(0, ...measured.map(({ opened_ms }) => opened_ms - opens_ms)),
      3,
    ),
    opens_s,
    limits: consumers?.limits,
    algorithm: consumers?.algorithm,
    sample_latencies: latencies.map(encoded),
    timeline,
  });
}

function timelineShare({ answers, measured }: RunMeasurements): ShareOutput["timeline"] {
  if (!answers) return undefined;
  const workers = measured.map(({ slices }, index) => ({
    slices,
    latencies_us: answers.of(index),
  }));
  const { allowed } = mergeSlices(workers.map(({ slices }) => slices));
  return {
    latencies: latenciesBySlice(workers, allowed.length).map(encoded),
    ...mergeTimelineSlices(measured.map(({ timeline_slices }) => timeline_slices)),
  };
}

function encoded(parts: readonly Uint32Array[]): EncodedHistogram {
  const histogram = createHistogram();
  for (const latencies_us of parts) for (const us of latencies_us) histogram.recordValue(us);
  return encodeHistogram(histogram);
}

/** All that a generator measured of one run. */
interface RunMeasurements {
  spec: GeneratorRunSpec;
  started_at: Date;
  opens_ms: number;
  /** Seconds from the first request of the warm-up to the opening. It is 0 without a warm-up. */
  opens_s: number;
  warmup: MeasuredResult["warmup"];
  /** The measurement of each worker in the same window. */
  measured: readonly (Measured & { connections: number; turns?: TurnFigures })[];
  turns?: TurnsRecord;
  generatorCpuUs: number;
  longest_gap_ms: number;
  /** Since the start of the run. */
  clocks: ClockComparison;
  links: NetworkLink[];
  samples: Sample[];
  /** Absent for foreign servers, and where another generator reads the servers. */
  monitor?: ServerMonitor;
  driverVersions: { autocannon?: string };
  consumers?: ConsumerReadings;
  /** What other runs of the same target did before. It is absent without any. */
  before?: { at_start: readonly Usage[]; load: readonly LoadPhase[] };
  diagnosis?: Diagnosis;
  answers?: AnswerLog;
}

function mergedLatencies(workers: readonly LatencyHistograms[]): LatencyHistograms {
  const merged = (kind: keyof LatencyHistograms): EncodedHistogram =>
    encodeHistogram(mergeHistograms(workers.map((histograms) => histograms[kind])));
  return byLatencyKind(merged);
}

/** The length of the window. When targets take turns, it is that of all slices together. */
function windowMs(measured: RunMeasurements["measured"]): number {
  const counted = measured.flatMap(({ turns }) => turns?.counted_ms ?? []);
  if (counted.length > 0) return mean(counted);
  return (
    Math.max(...measured.map(({ closed_ms }) => closed_ms)) -
    Math.min(...measured.map(({ opened_ms }) => opened_ms))
  );
}

function generatorPart(measurements: RunMeasurements): GeneratorPart {
  const { spec, measured, generatorCpuUs, longest_gap_ms, links } = measurements;
  const service = measured.flatMap(({ service_histograms }) => service_histograms ?? []);
  const schedules = measured.flatMap(({ schedule }) => schedule ?? []);

  return definedOnly({
    id: generatorId(spec.generator),
    workers: measured.map(({ connections, counts, event_loop_utilisation, cpu_wait_share }) =>
      definedOnly({
        connections,
        counts,
        event_loop_utilisation: rounded(event_loop_utilisation, 4),
        cpu_wait_share: cpu_wait_share === undefined ? undefined : rounded(cpu_wait_share, 4),
      }),
    ),
    counts: addCounts(measured.map(({ counts }) => counts)),
    window_s: rounded(windowMs(measured) / 1000, 6),
    cpu_us: generatorCpuUs,
    resident_bytes: process.memoryUsage.rss(),
    longest_gap_ms: rounded(longest_gap_ms, 1),
    links: links.length > 0 ? links : undefined,
    histograms: mergedLatencies(measured.map(({ histograms }) => histograms)),
    service_histograms: service.length > 0 ? mergedLatencies(service) : undefined,
    schedule: schedules.length > 0 ? addSchedules(schedules) : undefined,
  });
}

function cpuOf(cpu_us: number, loaded_s: number, requests: number) {
  return definedOnly({
    cpu_us,
    cpu_percent: rounded(cpu_us / loaded_s / 10_000, 2),
    cpu_us_per_request: requests > 0 ? rounded(cpu_us / requests, 2) : undefined,
  });
}

function resourcesOf(
  measurements: RunMeasurements,
  part: GeneratorPart,
  evidence: readonly ConsumerEvidence[],
): Record<string, RoleResources> {
  const { consumers, monitor, warmup, turns } = measurements;
  const { counts, window_s } = part;
  const requests = servedRequests(evidence, { counts, warmup });
  const loaded_s = loadedS({ duration: window_s, warmup, turns });
  const generator: RoleResources = {
    kind: "generator",
    source: "process.cpuUsage",
    ...cpuOf(part.cpu_us, loaded_s, requests),
    resident_bytes_max: part.resident_bytes,
    samples: [],
  };
  const resources: Record<string, RoleResources> = { [part.id]: generator };
  if (consumers?.kind !== "server") return resources;

  for (const [index, { id, at_window_open, at_end }] of evidence.entries()) {
    const resident = [
      ...(monitor?.samplesByServer[index] ?? []).map((sample) => sample.resident_bytes),
      at_window_open.resident_bytes,
      at_end.resident_bytes,
    ];
    // A process that was started again has counted from 0. The runtime's counters, which the
    // orchestrator has, go on over a restart.
    const isYounger = hasRestarted({ at_window_open, at_end }, window_s);
    const cpu_us = cpuUs(at_end) - (isYounger ? 0 : cpuUs(at_window_open));
    resources[id] = {
      kind: "server",
      source: "process.cpuUsage",
      ...cpuOf(cpu_us, loaded_s, requests),
      resident_bytes_mean: Math.round(mean(resident)),
      resident_bytes_max: Math.max(...resident),
      // The servers' samples are in the samples of the run.
      samples: [],
    };
  }

  return resources;
}

function serverFigures(
  { consumers, monitor }: RunMeasurements,
  resources: Record<string, RoleResources>,
) {
  const servers = Object.values(resources).filter(({ kind }) => kind === "server");
  if (!consumers || servers.length === 0) return {};

  const heap = (monitor?.samples ?? []).map((sample) => sample.heap_used_bytes);
  const heapAt = (usages: ConsumerReadings["at_end"]) =>
    sum(usages.map((usage) => usage.heap_used_bytes));
  const ends = [heapAt(consumers.at_window_open), heapAt(consumers.at_end)];

  return {
    cpu_usage: rounded(sum(servers.map(({ cpu_percent }) => cpu_percent)), 2),
    memory_usage: Math.round(mean(heap.length > 0 ? heap : ends)),
    memory_resident: sum(servers.map(({ resident_bytes_mean = 0 }) => resident_bytes_mean)),
  };
}

/** The decisions of a limiter between two readings of one process. */
function consumesBetween(before: Consumes, after: Consumes): Consumes {
  const decisions: Consumes = grown(["calls", "allowed", "limited", "failed"], before, after);
  if (after.without_store !== undefined)
    decisions.without_store = after.without_store - (before.without_store ?? 0);
  return decisions;
}

function consumerEvidence(
  { identities, ...readings }: ConsumerReadings,
  window_s: number,
): ConsumerEvidence[] {
  return identities.flatMap((identity, index) => {
    const at_start = readings.at_start[index];
    const at_window_open = readings.at_window_open[index];
    const at_end = readings.at_end[index];
    if (!at_start || !at_window_open || !at_end) return [];
    const before = at_window_open.consumes;
    const after = at_end.consumes;
    // A server that was started again has counted from 0: what it decided before is not known.
    const isCountable = before && after && !hasRestarted({ at_window_open, at_end }, window_s);
    const consumes = isCountable ? consumesBetween(before, after) : undefined;
    return definedOnly({ ...identity, at_start, at_window_open, at_end, consumes });
  });
}

function requestOf({ target, generator }: GeneratorRunSpec): MeasuredResult["request"] {
  const { layer, servers, workload, traffic, load, extent, workers, warmup_s, seed, timeout_s } =
    generator;
  return {
    layer,
    urls: servers.map(({ url }) => url),
    label: target.label,
    workload: workload.id,
    traffic,
    load,
    extent,
    workers,
    warmup_s,
    seed,
    timeout_s,
  };
}

function timelineFigures({ answers, measured, opens_ms, opens_s, spec }: RunMeasurements) {
  if (!answers) return {};
  const workers = measured.map((window, index) => ({ ...window, latencies_us: answers.of(index) }));
  const openLoop = spec.generator.load.model === "open";
  return { timeline: timelineOf(workers, { opens_s, opened_at: wallTime(opens_ms), openLoop }) };
}

/** What each key was admitted, where the quota of the traffic binds. */
function boundaryOfRun(
  { measured, consumers }: RunMeasurements,
  profile: TrafficProfile,
): MeasuredResult["boundary"] {
  const logs = measured.flatMap(({ decisions }) => decisions ?? []);
  return boundaryFor(profile, logs, consumers ?? {}, {
    opened_ms: Math.min(...measured.map(({ opened_ms }) => opened_ms)),
    closed_ms: Math.max(...measured.map(({ closed_ms }) => closed_ms)),
    wall_offset_ms: wallOffsetMs(),
  });
}

/** The result of a run, judged by the evidence that the generator has. */
export function buildResult(measurements: RunMeasurements): MeasuredResult {
  const { spec, consumers, driverVersions, warmup, before } = measurements;
  const { traffic, load, share } = spec.generator;
  const part = generatorPart(measurements);
  const figures = runFigures([part], load);
  const { counts, duration } = figures;
  const slices = mergeSlices(measurements.measured.map((worker) => worker.slices));
  const profile = findProfile(traffic);
  const boundary = boundaryOfRun(measurements, profile);
  // What a share of the load should meet follows from the whole.
  const isPredictable = consumers && !share && !profile.binding;
  const prediction = isPredictable
    ? predictionFor(
        { traffic, load },
        warmup,
        { ...consumers, at_start: before?.at_start ?? consumers.at_start },
        counts,
        {
          opened_at: wallTime(measurements.opens_ms),
          opens_s: measurements.opens_s,
          slices,
          loadBefore: before?.load ?? [],
        },
      )
    : undefined;
  const consumed = consumers ? consumerEvidence(consumers, duration) : [];
  const resources = resourcesOf(measurements, part, consumed);

  return judged({
    schema: RESULT_SCHEMA,
    schema_version: RESULT_SCHEMA_VERSION,
    ...definedOnly({
      run: 1,
      load_text: loadText(spec.generator),
      started_at: measurements.started_at.toISOString(),
      finished_at: new Date().toISOString(),
      notes: [...new Set(measurements.monitor?.failures)].map(
        (failure) => `a reading of the servers failed: ${failure}`,
      ),
      status: "measured" as const,
      request: requestOf(spec),
      ...figures,
      warmup,
      ...serverFigures(measurements, resources),
      samples: measurements.samples,
      slices,
      ...timelineFigures(measurements),
      prediction,
      boundary,
      consumers: consumed,
      ...callFigures(consumed, { counts, warmup }),
      resources,
      versions: { ...generatorVersions(), ...driverVersions, ...consumers?.versions },
      turns: measurements.turns,
      clock_change: measurements.clocks.change(),
      diagnosis: measurements.diagnosis,
    }),
  });
}
