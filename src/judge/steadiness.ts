import type { Load } from "../contract/configuration.js";
import type { Slices } from "../contract/request-outcomes.js";
import type { MeasuredResult } from "../contract/result.js";
import type { TurnsRecord } from "../contract/turns.js";
import { mean, median, rounded, sum } from "../kit/numbers.js";
import { SLICES_PER_SECOND, slicesOf } from "./merging/slices.js";

const TWO_SIDED_5_PERCENT = 1.96;

/**
 * Whether values rise or fall over time: the test of Mann (Econometrica 13, 1945) and
 * Kendall, two-sided at 5 %, by the normal approximation with corrections for continuity and for
 * ties, which holds from about ten values on.
 */
export function hasTrend(values: readonly number[]): boolean {
  const count = values.length;
  if (count < 4) return false;

  let score = 0;
  for (const [index, earlier] of values.entries())
    for (const later of values.slice(index + 1)) score += Math.sign(later - earlier);

  const ties = new Map<number, number>();
  for (const value of values) ties.set(value, (ties.get(value) ?? 0) + 1);
  const spread = (count: number): number => (count * (count - 1) * (2 * count + 5)) / 18;
  const variance = spread(count) - sum([...ties.values()].map(spread));
  if (variance <= 0) return false;
  return (Math.abs(score) - 1) / Math.sqrt(variance) > TWO_SIDED_5_PERCENT;
}

/** A window that began slower, or faster, than it went on. */
interface Ramp {
  /**
   * The median slice of the first second: answers a second of a closed loop, or the mean latency of
   * an open loop in milliseconds.
   */
  first_second: number;
  /** The median slice of the second half, in the unit of the first. */
  second_half: number;
}

/** Shorter windows are not tested (M26). */
export const RAMP_WINDOW_S = 3;
/** A smaller difference is no reason to doubt a window. */
const MIN_RAMP = 0.1;
/** Standard errors beyond which a difference is a ramp. */
const RAMP_ERRORS = 3;
/**
 * The lag-1 correlation of neighbouring slices is hard to estimate from few of them: it counts as
 * this at least and at most.
 */
const CORRELATION = { min: 0.6, max: 0.8 };

/** What each whole slice measured. The latency of a slice without an answer is NaN. */
function series({ allowed, limited, latency_sum_us }: Slices, model: Load["model"]): number[] {
  // The last slice may be shorter than the others.
  const answers = allowed.slice(0, -1).map((count, index) => count + (limited[index] ?? 0));
  if (model === "closed") return answers.map((count) => count * SLICES_PER_SECOND);
  return answers.map((count, index) => (latency_sum_us[index] ?? 0) / count / 1000);
}

const withoutGaps = (values: readonly number[]): number[] =>
  values.filter((value) => !Number.isNaN(value));

/** The distances of the values from their line of least squares. */
function withoutTrend(values: readonly number[]): number[] {
  const centre = (values.length - 1) / 2;
  const level = mean(values);
  const slope =
    sum(values.map((value, index) => (index - centre) * (value - level))) /
    sum(values.map((_, index) => (index - centre) ** 2));
  return values.map((value, index) => value - level - slope * (index - centre));
}

/**
 * The standard error of the difference between a level over `first` slices and a level over
 * `slices`. Neighbouring slices are alike, so that n slices count as n (1 − r) / (1 + r) with the
 * lag-1 correlation r.
 */
function errorOfDifference(first: number, slices: readonly number[]): number {
  const count = slices.length;
  const noise = withoutTrend(slices);
  const squares = sum(noise.map((value) => value ** 2));
  if (squares === 0) return 0;
  const estimate = sum(noise.slice(1).map((value, index) => value * (noise[index] ?? 0))) / squares;
  // The estimate from few values is too low.
  const corrected = estimate + (1 + 3 * estimate) / count;
  const correlation = Math.min(CORRELATION.max, Math.max(CORRELATION.min, corrected));
  return Math.sqrt(
    ((squares / (count - 2)) * (1 / first + 1 / count) * (1 + correlation)) / (1 - correlation),
  );
}

/** The slices of the first seconds of a window. */
export function firstSlices(slices: Slices, seconds: number): Slices {
  const first = (values: readonly number[]) =>
    values.slice(0, Math.floor(seconds * SLICES_PER_SECOND));
  return slicesOf((name) => first(slices[name]));
}

/**
 * Finds a ramp inside the window (M26), up or down. The median slice of the first second differs
 * from that of the second half by more than a tenth and by more than three standard errors of a
 * difference of means of correlated values (Zwiers and von Storch, Journal of Climate 8, 1995). The
 * correlation has the correction of Kendall (Biometrika 41, 1954). The noise is that of the second
 * half. Medians are compared, so that a stall in the first second is no ramp. In simulated windows
 * of 3 to 30 s without a ramp, with slices that vary by 5 to 15 % and a correlation of 0.3 to 0.6,
 * at most 1.6 % were flagged.
 * @returns undefined without a ramp, and for windows of less than 3 s
 */
export function rampIn(slices: Slices, model: Load["model"]): Ramp | undefined {
  const values = series(slices, model);
  if (slices.allowed.length < RAMP_WINDOW_S * SLICES_PER_SECOND) return undefined;
  const first = withoutGaps(values.slice(0, SLICES_PER_SECOND));
  const latest = withoutGaps(values.slice(Math.floor(values.length / 2)));
  // Open loops at low rates may have slices without an answer.
  if (first.length < SLICES_PER_SECOND / 2 || latest.length < SLICES_PER_SECOND) return undefined;

  const first_second = median(first);
  const second_half = median(latest);
  const change = Math.abs(second_half - first_second);
  const error = errorOfDifference(first.length, latest);

  return change > Math.max(MIN_RAMP * second_half, RAMP_ERRORS * error)
    ? { first_second, second_half }
    : undefined;
}

/**
 * An error that is estimated from fewer degrees of freedom is too uncertain: eight cycles of one
 * target have six.
 */
const FEWEST_DEGREES = 6;

/** A sum of squares around the means of halves, and its degrees of freedom. */
interface Scatter {
  squares: number;
  degrees: number;
}

/** The logarithms of a target less the mean logarithm of others in the same cycles. */
function relativeTo(others: readonly (readonly number[])[], logs: readonly number[]): number[] {
  if (others.length === 0) return [...logs];
  return logs.map((log, cycle) => log - mean(others.map((othersLogs) => othersLogs[cycle] ?? 0)));
}

const partsAt = (values: readonly number[], split: number): [number[], number[]] => [
  values.slice(0, split),
  values.slice(split),
];

const scatterAt = (values: readonly number[], split: number): Scatter => ({
  squares: sum(
    partsAt(values, split).flatMap((part) => part.map((value) => (value - mean(part)) ** 2)),
  ),
  degrees: values.length - 2,
});

/**
 * The variance of a cycle of a target: that of its cycles or, where it is smaller, that of
 * the noisiest of the others. What changes within a part must not hide in the error that it makes
 * itself. Undefined where cycles and targets are too few.
 */
function cycleVariance(scatter: Scatter, others: readonly Scatter[]): number | undefined {
  const variances = [
    { variance: scatter.squares / scatter.degrees, degrees: scatter.degrees },
    {
      variance: Math.max(...others.map(({ squares, degrees }) => squares / degrees)),
      // Subtracting what the others have in common costs the degrees of freedom of one of them.
      degrees: (others.length - 1) * scatter.degrees,
    },
  ].filter(({ degrees }) => degrees >= FEWEST_DEGREES);
  return variances.length > 0 ? Math.min(...variances.map(({ variance }) => variance)) : undefined;
}

/** The logarithms of a target relative to the others, and those of each other one. */
interface RelativeLogs {
  own: readonly number[];
  others: readonly (readonly number[])[];
}

/**
 * The rates of targets that take turns, in each cycle. What the host does to all of them cancels
 * (M26).
 */
function relativeLogs(answers: readonly (readonly number[])[]): RelativeLogs[] {
  const logs = answers.map((counts) => counts.map((count) => Math.log(Math.max(0.5, count))));
  return logs.map((logsOfTarget, index) => {
    const others = logs.filter(
      (candidate, place) => place !== index && candidate.length === logsOfTarget.length,
    );
    return {
      own: relativeTo(others, logsOfTarget),
      others: others.map((logsOfOther) =>
        relativeTo(
          others.filter((candidate) => candidate !== logsOfOther),
          logsOfOther,
        ),
      ),
    };
  });
}

/**
 * The rate after a cycle divided by that until it, with the standard error of the logarithm.
 * @param variance that of the logarithm in a cycle
 */
function changeAt(logs: readonly number[], split: number, variance: number): Change {
  const [before, after] = partsAt(logs, split);
  const error = Math.sqrt(variance * (1 / before.length + 1 / after.length));
  return { ratio: rounded(Math.exp(mean(after) - mean(before)), 6), error: rounded(error, 6) };
}

type Change = NonNullable<TurnsRecord["halves"]>;

/**
 * Returns, for targets that take turns, a target's rate in the second half of the cycles divided by
 * that in the first, relative to the geometric mean of the others.
 */
export const halvesOf = (answers: readonly (readonly number[])[]): (Change | undefined)[] =>
  relativeLogs(answers).map(({ own: logs, others }) => {
    const middle = Math.floor(logs.length / 2);
    const scatters = others.map((logsOfOther) => scatterAt(logsOfOther, middle));
    const variance = cycleVariance(scatterAt(logs, middle), scatters);
    return variance === undefined ? undefined : changeAt(logs, middle, variance);
  });

/** A part of a window has at least so many cycles. */
const FEWEST_CYCLES = 3;
/** A smaller change is none of the level. */
const MIN_LEVEL_CHANGE = 0.2;
/** Of several splits the clearest counts, so that chance needs more standard errors than of one. */
const LEVEL_CHANGE_ERRORS = 4;

/**
 * Returns, for targets that take turns, the clearest change of a target's level inside the window,
 * relative to the geometric mean of the others, and undefined without one (M26).
 */
export const levelChangesOf = (
  answers: readonly (readonly number[])[],
): (TurnsRecord["level_change"] | undefined)[] => relativeLogs(answers).map(levelChangeIn);

/** A stall is no other level: it is in the scatter of its part, and so in the error. */
function levelChangeIn({ own: logs }: RelativeLogs): TurnsRecord["level_change"] {
  const splits = Math.max(0, logs.length - 2 * FEWEST_CYCLES + 1);
  const changes = Array.from({ length: splits }, (_, index) => {
    const cycles_before = FEWEST_CYCLES + index;
    const { squares, degrees } = scatterAt(logs, cycles_before);
    if (degrees < FEWEST_DEGREES) return [];
    return [{ cycles_before, ...changeAt(logs, cycles_before, squares / degrees) }];
  });

  const [clearest] = changes
    .flat()
    .filter(isLevelChange)
    .toSorted((left, right) => inErrors(right) - inErrors(left));
  return clearest;
}

const inErrors = ({ ratio, error }: Change): number => Math.abs(Math.log(ratio)) / error;

const isLevelChange = (change: Change): boolean =>
  Math.max(change.ratio, 1 / change.ratio) - 1 >= MIN_LEVEL_CHANGE &&
  inErrors(change) >= LEVEL_CHANGE_ERRORS;

/** A larger change between halves makes a window unsteady, if it exceeds the error, too. */
const UNSTEADY = 0.1;

/** Whether the halves of a window by turns differ (M26). */
export const areApart = ({ ratio, error }: NonNullable<TurnsRecord["halves"]>): boolean =>
  Math.max(ratio, 1 / ratio) - 1 > UNSTEADY && Math.abs(Math.log(ratio)) > RAMP_ERRORS * error;

/** Fewer requests in a whole warm-up do not tell whether a target was steady. */
const FEW_REQUESTS = 1000;

/** A note where the `auto` warm-up ended before the target was known to be steady (M26). */
export function warmupNotes({ warmup }: Pick<MeasuredResult, "warmup">): string[] {
  const { steady, took_s, requests } = warmup;
  if (steady !== false) return [];
  const ended = `the warm-up ended at its longest, ${Number(took_s.toFixed(1))} s`;
  return requests < FEW_REQUESTS
    ? [`${ended}: its ${requests} requests are too few to tell whether the target was steady`]
    : [`${ended}, before the target was steady`];
}
