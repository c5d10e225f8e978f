import type { Load } from "../../contract/configuration.js";
import { rounded, sum } from "../../contract/numbers.js";
import type { ConsumerEvidence, GeneratorPart, MeasuredResult } from "../../contract/result.js";
import { addCounts, answered, ends, failed, served } from "../counts.js";
import { latencyBlock, unsupportedPercentiles } from "../latency.js";
import { addSchedules, scheduleOf } from "../schedule-summary.js";

type RunFigures = Pick<
  MeasuredResult,
  | "duration"
  | "requests"
  | "latency"
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

/** The figures of a run that follow from its generators: counts are added up, histograms merged (M18). */
export function runFigures(parts: readonly GeneratorPart[], load: Load): RunFigures {
  const counts = addCounts(parts.map((part) => part.counts));
  // The windows of several generators open together, and each has its length by its own clock.
  const duration = Math.max(...parts.map(({ window_s }) => window_s));
  const answers = answered(counts);
  const ended = ends(counts);
  const latency = latencyBlock(parts.map(({ histograms }) => histograms));
  return {
    duration,
    requests: { average: rounded(answers / duration, 3), total: answers },
    ...(latency ? { latency } : {}),
    ...openLoopFigures(parts, load, duration, latency),
    unsupported: unsupportedPercentiles(answered(ended)),
    rate_limit_hits: counts.limited,
    errors: ended.connection_errors,
    timeouts: ended.timed_out,
    totalErrors: failed(counts),
    counts,
    generators: [...parts],
  };
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
  return {
    schedule: scheduleOf(load, addSchedules(schedules), {
      window_s,
      workers: sum(parts.map(({ workers }) => workers.length)),
      ...(latency ? { latency } : {}),
    }),
    ...(service_time ? { service_time } : {}),
  };
}

/** How the limiter was called in lead-in and window, where the consumers count that. */
export function callFigures(
  evidence: readonly ConsumerEvidence[],
  load: Pick<MeasuredResult, "counts" | "warmup">,
): Pick<MeasuredResult, "calls_per_request" | "descriptors_per_call"> {
  const consumes = evidence.flatMap((consumer) => consumer.consumes ?? []);
  const calls = sum(consumes.map((counted) => counted.calls));
  const requests = served(evidence, load);
  const descriptors = sum(consumes.map(({ allowed, limited, failed }) => allowed + limited + failed));
  if (calls === 0 || requests === 0 || descriptors === 0) return {};
  return {
    calls_per_request: rounded(calls / requests, 6),
    descriptors_per_call: rounded(descriptors / calls, 6),
  };
}
