import type { Load } from "../contract/configuration.js";
import { mean, sum } from "../contract/numbers.js";
import type { MeasuredResult, Slices } from "../contract/result.js";

/** Whether values go up or down over time: the test of Mann and Kendall, two-sided at 5 %, corrected for ties. */
export function hasTrend(values: readonly number[]): boolean {
  const n = values.length;
  let score = 0;
  values.forEach((value, index) => {
    for (const later of values.slice(index + 1)) score += Math.sign(later - value);
  });
  const ties = new Map<number, number>();
  for (const value of values) ties.set(value, (ties.get(value) ?? 0) + 1);
  const spread = (count: number): number => count * (count - 1) * (2 * count + 5);
  const variance = (spread(n) - [...ties.values()].reduce((sum, count) => sum + spread(count), 0)) / 18;
  return variance > 0 && (Math.abs(score) - 1) / Math.sqrt(variance) > Z_95;
}

/** A note where the `auto` warm-up ended before the target was steady (M26). */
export const warmupNotes = ({ warmup }: Pick<MeasuredResult, "warmup">): string[] =>
  warmup.steady === false
    ? [
        `the warm-up ended at its longest, ${Number(warmup.took_s.toFixed(1))} s, before the target was steady`,
      ]
    : [];
