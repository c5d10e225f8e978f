import type { Load } from "../contract/configuration.js";
import { mean, sum } from "../contract/numbers.js";
import type { Slices } from "../contract/result.js";

/** The normal deviate of a two-sided test at 5 %. */
const TWO_SIDED_5_PERCENT = 1.96;

/**
 * Whether values rise or fall over time: the test of Mann (Econometrica 13, 1945) and Kendall, two-sided at 5 %, by the
 * normal approximation with corrections for continuity and for ties, which holds from about ten values on.
 */
export function hasTrend(values: readonly number[]): boolean {
  const n = values.length;
  if (n < 4) return false;
  let score = 0;
  for (const [index, earlier] of values.entries())
    for (const later of values.slice(index + 1)) score += Math.sign(later - earlier);
  const ties = new Map<number, number>();
  for (const value of values) ties.set(value, (ties.get(value) ?? 0) + 1);
  const spread = (count: number): number => (count * (count - 1) * (2 * count + 5)) / 18;
  const variance = spread(n) - sum([...ties.values()].map(spread));
  if (variance <= 0) return false;
  return (Math.abs(score) - 1) / Math.sqrt(variance) > TWO_SIDED_5_PERCENT;
}

/** A window that began slower than it went on. */
export interface Ramp {
  /** Closed loop: answers a second. Open loop: mean latency, milliseconds. */
  first_second: number;
  /** Of the second half of the window. */
  later: number;
}

const SLICES_PER_SECOND = 10;
/** Shorter windows are not tested (M26). */
const MIN_SLICES = 3 * SLICES_PER_SECOND;

/** What each whole slice measured: answers a second, or the mean latency in milliseconds. Slices without an answer have none. */
function series(slices: Slices, model: Load["model"]): number[] {
  // The last slice may be shorter than the others.
  const answers = slices.allowed.map((allowed, index) => allowed + (slices.limited[index] ?? 0)).slice(0, -1);
  if (model === "closed") return answers.map((count) => count * SLICES_PER_SECOND);
  return answers.flatMap((count, index) =>
    count > 0 ? [(slices.latency_sum_us[index] ?? 0) / count / 1000] : [],
  );
}

/** A ramp inside the window (M26): undefined without one, and in windows of less than 3 s. */
export function rampIn(slices: Slices, model: Load["model"]): Ramp | undefined {
  const values = series(slices, model);
  if (slices.allowed.length < MIN_SLICES || values.length < MIN_SLICES / 2) return undefined;
  const first = mean(values.slice(0, SLICES_PER_SECOND));
  const later = mean(values.slice(Math.floor(values.length / 2)));
  const slower = model === "closed" ? 1 - first / later : first / later - 1;
  return slower > 0.3 ? { first_second: first, later } : undefined;
}
