import type { Histogram, JsHistogram } from "hdr-histogram-js";
import type { RequestCounts } from "../../contract/admissions.js";
import type { Load } from "../../contract/configuration.js";
import type { ConsumerEvidence } from "../../contract/consumer-evidence.js";
import type { GeneratorOutput } from "../../contract/generator-output.js";
import type { GeneratorPart, Sample } from "../../contract/generator-part.js";
import type { EncodedHistogram } from "../../contract/latency-figures.js";
import type { MeasuredResult } from "../../contract/result.js";
import { definedOnly } from "../../kit/defined-only.js";
import { rounded, sum, totals } from "../../kit/numbers.js";
import { largestChange } from "../../kit/system-clock.js";
import { addCounts, answeredRequests, ends, failedRequests, servedRequests } from "../counts.js";
import type { Evidence } from "../evidence.js";
import { mergeHistograms } from "../histogram.js";
import { latencyBlock, latencyCurve, unsupportedPercentiles } from "../latency.js";
import { addSchedules, scheduleOf } from "../schedule-summary.js";
import { type CountedValues, timelineFrom } from "./merge-timelines.js";
import { addedUp, mergeSlices, mergeTimelineSlices } from "./slices.js";

type RunFigures = Pick<
  MeasuredResult,
  | "duration"
  | "requests"
  | "latency"
  | "latency_curve_ms"
  | "schedule"
  | "service_time"
  | "unsupported"
  | "rate_limit_hits"
  | "errors"
  | "timeouts"
  | "totalErrors"
  | "counts"
  | "generators"
>;

/** The figures of a run from its generators: counts are added up, histograms merged (M18). */
export function runFigures(parts: readonly GeneratorPart[], load: Load): RunFigures {
  const counts = addCounts(parts.map((part) => part.counts));
  // The windows of several generators open together, and each has its length by its own clock.
  const duration = Math.max(...parts.map(({ window_s }) => window_s));
  const answers = answeredRequests(counts);
  const ended = ends(counts);
  const histograms = parts.map((part) => part.histograms);
  const latency = latencyBlock(histograms);

  return definedOnly({
    duration,
    requests: { average: rounded(answers / duration, 3), total: answers },
    latency,
    latency_curve_ms: latencyCurve(histograms),
    ...openLoopFigures(parts, load, duration, latency),
    unsupported: unsupportedPercentiles(answeredRequests(ended)),
    rate_limit_hits: counts.limited,
    errors: ended.connection_errors,
    timeouts: ended.timed_out,
    totalErrors: failedRequests(counts),
    counts,
    generators: [...parts],
  });
}

function openLoopFigures(
  parts: readonly GeneratorPart[],
  load: Load,
  window_s: number,
  latency: MeasuredResult["latency"],
): Pick<RunFigures, "schedule" | "service_time"> {
  const schedules = parts.flatMap(({ schedule }) => schedule ?? []);
  const service = parts.flatMap(({ service_histograms }) => service_histograms ?? []);
  if (load.model !== "open" || schedules.length === 0 || service.length === 0) return {};
  const service_time = latencyBlock(service);

  return definedOnly({
    schedule: scheduleOf(
      load,
      addSchedules(schedules),
      definedOnly({
        window_s,
        workers: sum(parts.map(({ workers }) => workers.length)),
        latency,
      }),
    ),
    service_time,
  });
}

/**
 * How the limiter was called in lead-in and window. It is empty where the consumers do not
 * count it.
 */
export function callFigures(
  evidence: readonly ConsumerEvidence[],
  load: Pick<MeasuredResult, "counts" | "warmup">,
): Pick<MeasuredResult, "calls_per_request" | "descriptors_per_call"> {
  const consumes = evidence.flatMap((consumer) => consumer.consumes ?? []);
  const calls = sum(consumes.map((counted) => counted.calls));
  const requests = servedRequests(evidence, load);
  const descriptors = sum(
    consumes.map(({ allowed, limited, failed }) => allowed + limited + failed),
  );
  if (calls === 0 || requests === 0 || descriptors === 0) return {};

  return {
    calls_per_request: rounded(calls / requests, 6),
    descriptors_per_call: rounded(descriptors / calls, 6),
  };
}

/** The output of one of several generators, with the moment at which its window opened. */
export type SharedOutput = { output: GeneratorOutput; opened_after_ms: number };

/**
 * The evidence of a run from the outputs of its generators. Counts are added up, histograms
 * merged (M18), and the servers' part comes from the first generator, which reads them for all.
 * @returns all but the expected outcome mix, which follows from the traffic
 */
export function mergeGenerators(shares: readonly SharedOutput[]): Evidence {
  const outputs = shares.map(({ output }) => output);
  const [first] = outputs;
  if (!first) throw new Error("there is no generator");

  // The left-out members follow from one share alone.
  const {
    verdict: _verdict,
    limited_by: _limit,
    outcome: _outcome,
    outcome_text: _text,
    request_counts: _counts,
    share: _share,
    ...base
  } = first;
  const parts = shares.flatMap(({ output, opened_after_ms }) =>
    output.generators.map((part) => ({ ...part, opened_after_ms: rounded(opened_after_ms, 3) })),
  );
  const figures = runFigures(parts, first.request.load);
  const warmup = mergeWarmups(outputs.map((output) => output.warmup));
  const consumers = outputs.flatMap((output) => output.consumers);
  const slices = mergeSlices(outputs.map((output) => output.slices));
  const timeline = timelineOf(outputs, slices) ?? base.timeline;
  const clock_change = largestChange(outputs.flatMap((output) => output.clock_change ?? []));

  return definedOnly({
    ...base,
    ...figures,
    started_at: earliest(outputs.map(({ started_at }) => started_at)),
    finished_at: latest(outputs.map(({ finished_at }) => finished_at)),
    notes: [...new Set(outputs.flatMap(({ notes }) => notes))],
    warmup,
    samples: mergeSamples(outputs),
    slices,
    timeline,
    clock_change,
    consumers,
    ...callFigures(consumers, { counts: figures.counts, warmup }),
    resources: mergeResources(
      outputs,
      servedRequests(consumers, { counts: figures.counts, warmup }),
    ),
  });
}

/**
 * How often all generators sent each request. It is undefined where one of them could not
 * count.
 */
export function mergeRequestCounts(
  outputs: readonly Pick<GeneratorOutput, "request_counts">[],
): RequestCounts | undefined {
  const counted = outputs.flatMap(({ request_counts }) => request_counts ?? []);
  if (counted.length < outputs.length) return undefined;
  return {
    sent: addedUp(counted.map(({ sent }) => sent)),
    undecided: addedUp(counted.map(({ undecided }) => undecided)),
  };
}

const earliest = (times: readonly string[]): string => times.toSorted()[0] ?? "";
const latest = (times: readonly string[]): string => times.toSorted().at(-1) ?? "";

function mergeWarmups(warmups: readonly MeasuredResult["warmup"][]): MeasuredResult["warmup"] {
  const steady = warmups.flatMap((warmup) => warmup.steady ?? []);
  const merged = (parts: readonly { took_s: number; requests: number }[]) => ({
    took_s: Math.max(...parts.map(({ took_s }) => took_s)),
    requests: sum(parts.map(({ requests }) => requests)),
  });
  const closed = warmups.flatMap((warmup) => warmup.closed ?? []);
  return definedOnly({
    ...merged(warmups),
    lead_in: merged(warmups.map(({ lead_in }) => lead_in)),
    closed: closed.length > 0 ? merged(closed) : undefined,
    steady: steady.length > 0 ? steady.every(Boolean) : undefined,
  });
}

/**
 * Merges the samples of all generators by their order. The first generator read the servers'
 * figures.
 */
function mergeSamples(outputs: readonly GeneratorOutput[]): Sample[] {
  const count = Math.max(...outputs.map(({ samples }) => samples.length));
  return Array.from({ length: count }, (_, index) => {
    const rows = outputs.flatMap(({ samples }) => samples[index] ?? []);
    const latencies = mergeHistograms(
      outputs.flatMap(({ share }) => share?.sample_latencies[index] ?? []),
    );
    const hasAnswers = latencies.totalCount > 0;
    const busy = rows.flatMap((row) => row.generator_event_loop_utilisation ?? []);
    const { p50_ms: _p50, p99_ms: _p99, ...figuresOfFirst } = rows[0] as Sample;

    return definedOnly({
      ...figuresOfFirst,
      t_s: Math.max(...rows.map(({ t_s }) => t_s)),
      interval_s: Math.max(...rows.map(({ interval_s }) => interval_s)),
      ...totals(["allowed", "limited", "failed"], rows),
      p50_ms: hasAnswers ? msAt(latencies, 50) : undefined,
      p99_ms: hasAnswers ? msAt(latencies, 99) : undefined,
      generator_event_loop_utilisation: busy.length > 0 ? Math.max(...busy) : undefined,
    });
  });
}

const msAt = (latencies: Histogram, percentile: number): number =>
  Math.round(latencies.getValueAtPercentile(percentile)) / 1000;

function timelineOf(
  outputs: readonly GeneratorOutput[],
  slices: MeasuredResult["slices"],
): MeasuredResult["timeline"] {
  const shares = outputs.flatMap(({ share }) => share ?? []);
  const kept = shares.flatMap(({ timeline }) => timeline ?? []);
  const [first] = shares;
  if (!first || kept.length === 0) return undefined;
  const bySlice = slices.allowed.map((_, index) =>
    countedValues(kept.flatMap(({ latencies }) => latencies[index] ?? [])),
  );

  return timelineFrom(slices, mergeTimelineSlices(kept), bySlice, {
    opens_s: first.opens_s,
    opened_at: new Date(first.opened_at),
    openLoop: outputs[0]?.request.load.model === "open",
  });
}

/**
 * The values of several histograms. The histograms are added up first, because that takes a
 * fraction of the time that it takes to go through the values of each.
 */
function countedValues(encoded: readonly EncodedHistogram[]): CountedValues[] {
  const merged = mergeHistograms(encoded);
  if (merged.totalCount === 0) return [];

  // Without WebAssembly every histogram is one of JavaScript, which alone can be iterated over.
  const { recordedValuesIterator: iterator } = merged as JsHistogram;
  const values_us: number[] = [];
  const counts: number[] = [];
  iterator.reset();

  while (iterator.hasNext()) {
    const { valueIteratedTo, countAtValueIteratedTo } = iterator.next();
    values_us.push(valueIteratedTo);
    counts.push(countAtValueIteratedTo);
  }

  return [{ values_us, counts }];
}

/**
 * Merges the resources of all roles. The CPU time per request counts all requests, not those of one
 * generator.
 */
function mergeResources(
  outputs: readonly Pick<GeneratorOutput, "resources">[],
  requests: number,
): MeasuredResult["resources"] {
  const roles = outputs.flatMap(({ resources }) => Object.entries(resources));
  return Object.fromEntries(
    roles.map(([id, { cpu_us_per_request: _ofShare, ...resources }]) => [
      id,
      definedOnly({
        ...resources,
        cpu_us_per_request: requests > 0 ? rounded(resources.cpu_us / requests, 2) : undefined,
      }),
    ]),
  );
}
