import type { Load } from "../contract/configuration.js";
import { rounded } from "../contract/numbers.js";
import type { GeneratorPart } from "../contract/result.js";
import type { Schedule } from "../contract/schedule.js";
import { decodeHistogram, encodeHistogram, mergeHistograms } from "./histogram.js";

type PartSchedule = NonNullable<GeneratorPart["schedule"]>;

/** Adds up several shares of one schedule. */
export function addSchedules(parts: readonly PartSchedule[]): PartSchedule {
  const sum = (pick: (part: PartSchedule) => number) => parts.reduce((total, part) => total + pick(part), 0);
  return {
    offered: sum((part) => part.offered),
    sent: sum((part) => part.sent),
    late: sum((part) => part.late),
    blocked: sum((part) => part.blocked),
    dropped: sum((part) => part.dropped),
    unsent: sum((part) => part.unsent),
    lateness: encodeHistogram(mergeHistograms(parts.map(({ lateness }) => lateness))),
  };
}

/**
 * How well a schedule was kept.
 * @param window_s measured seconds
 */
export function scheduleOf(
  { rate_per_second, arrivals }: Pick<Extract<Load, { model: "open" }>, "rate_per_second" | "arrivals">,
  { lateness, ...counts }: PartSchedule,
  window_s: number,
): Schedule {
  const histogram = decodeHistogram(lateness);
  const ms = (us: number) => Math.round(us) / 1000;
  const at = (percentile: number) => ms(histogram.getValueAtPercentile(percentile));
  return {
    rate_per_second,
    arrivals,
    ...counts,
    achieved_per_second: rounded(counts.sent / window_s, 3),
    ...(counts.sent > 0
      ? { lateness_ms: { p50: at(50), p90: at(90), p99: at(99), max: ms(histogram.maxValue) } }
      : {}),
  };
}
