import type { Load } from "../contract/configuration.js";
import type { GeneratorPart } from "../contract/generator-part.js";
import type { MeasuredResult } from "../contract/result.js";
import type { Schedule } from "../contract/schedule.js";
import { definedOnly } from "../kit/defined-only.js";
import { rounded, totals } from "../kit/numbers.js";
import { decodeHistogram, encodeHistogram, mergeHistograms } from "./histogram.js";
import { atLeast } from "./latency.js";

type PartSchedule = NonNullable<GeneratorPart["schedule"]>;

/** From this share of a latency percentile on lateness is a part of it worth naming. */
const LATE_SHARE = 0.1;

export function addSchedules(parts: readonly PartSchedule[]): PartSchedule {
  return {
    ...totals(["offered", "sent", "late", "blocked", "dropped", "unsent"], parts),
    lateness: encodeHistogram(mergeHistograms(parts.map(({ lateness }) => lateness))),
    gaps: encodeHistogram(mergeHistograms(parts.map(({ gaps }) => gaps))),
    shared_wakes: parts.some(({ shared_wakes }) => shared_wakes),
  };
}

interface ScheduleRun {
  window_s: number;
  /** Threads that share the rate evenly. */
  workers: number;
  /** The latency block of the run. It is absent without an answer. */
  latency?: MeasuredResult["latency"];
}

const ms = (us: number): number => Math.round(us) / 1000;

export function scheduleOf(
  {
    rate_per_second,
    arrivals,
  }: Pick<Extract<Load, { model: "open" }>, "rate_per_second" | "arrivals">,
  { lateness, gaps, ...schedule }: PartSchedule,
  { window_s, workers, latency }: ScheduleRun,
): Schedule {
  const late = decodeHistogram(lateness);
  const lateAt = (percentile: number) => ms(late.getValueAtPercentile(percentile));
  const between = decodeHistogram(gaps);
  const gapAt = (percentile: number) => ms(between.getValueAtPercentile(percentile));
  const lateness_ms = { p50: lateAt(50), p90: lateAt(90), p99: lateAt(99), max: ms(late.maxValue) };

  return definedOnly({
    rate_per_second,
    arrivals,
    ...schedule,
    achieved_per_second: rounded(schedule.sent / window_s, 3),
    lateness_ms: late.totalCount > 0 ? lateness_ms : undefined,
    late_percentiles:
      latency && late.totalCount > 0
        ? (["p50", "p90", "p99"] as const).filter(
            (name) => lateness_ms[name] > LATE_SHARE * atLeast(latency, name),
          )
        : [],
    gaps_ms:
      between.totalCount > 0
        ? {
            intended: rounded((1000 * workers) / rate_per_second, 6),
            p10: gapAt(10),
            p50: gapAt(50),
            p90: gapAt(90),
            p99: gapAt(99),
            max: ms(between.maxValue),
          }
        : undefined,
  });
}
