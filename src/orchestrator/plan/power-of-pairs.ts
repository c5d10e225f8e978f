/**
 * What pairs of runs by turns can show, for the plan, before any run. The report computes the same
 * from the runs (`report/statistics/power.py`, which has the sources).
 */

import { LEVEL, MIN_PAIRS, smallestPairedP } from "../../contract/statistics.js";

/** The quantile of the normal distribution at 0.8: a difference is found in four of five cases. */
const QUANTILE_OF_POWER = 0.8416;
/** The same at 0.9: a ratio of 1 has two bounds, and must keep both. */
const QUANTILE_OF_BOTH_BOUNDS = 1.2816;

/** The variance of the Hodges-Lehmann estimate relative to that of a mean (Pitman). */
const VARIANCE_FACTOR = Math.PI / 3;

/** More rounds are no useful advice. */
const MOST_ROUNDS = 1000;

/** With more pairs some exact level lies within a thousandth of 5 %. */
const MOST_EXACT_PAIRS = 40;

export interface PairsOfTurns {
  rounds: number;
  /** The standard deviation of the logarithm of a pair's ratio. */
  deviation: number;
  /** The number of comparisons that Holm's correction counts together. */
  comparisons: number;
  /** The largest difference that does not matter, as a share. */
  margin: number;
  /** What shifts all rounds alike, as a share, by which intervals are widened (M34). */
  systematic: number;
}

/**
 * The smallest true difference, as a share, that is found in four of five campaigns. It is undefined
 * where the rounds are too few to show any.
 */
export function detectableDifference(pairs: PairsOfTurns): number | undefined {
  const { rounds, comparisons, margin, systematic } = pairs;
  if (rounds < MIN_PAIRS || smallestPairedP(rounds) * comparisons > LEVEL) return undefined;

  const error = standardError(pairs);
  const freedom = rounds - 1;
  const beyondMargin =
    Math.log1p(margin) +
    Math.log1p(systematic) +
    (studentQuantile(freedom, 1 - intervalAlpha(rounds) / 2) + QUANTILE_OF_POWER) * error;
  const tested =
    (studentQuantile(freedom, 1 - LEVEL / comparisons / 2) + QUANTILE_OF_POWER) * error;
  return Math.expm1(Math.max(beyondMargin, tested));
}

/**
 * The rounds that show in four of five campaigns that two equal targets differ by no more than the
 * margin. It is undefined above 1000.
 */
export function roundsForNoDifference(pairs: Omit<PairsOfTurns, "rounds">): number | undefined {
  for (let rounds = MIN_PAIRS; rounds <= MOST_ROUNDS; rounds++)
    if (showsNoDifference({ ...pairs, rounds })) return rounds;
  return undefined;
}

function showsNoDifference(pairs: PairsOfTurns): boolean {
  const { rounds, comparisons, margin, systematic } = pairs;
  // Claims of no difference are one-sided, so that the level is twice that of an interval.
  const level = Math.min(intervalAlpha(rounds), (2 * LEVEL) / comparisons);
  const reach = studentQuantile(rounds - 1, 1 - level / 2) + QUANTILE_OF_BOTH_BOUNDS;
  const canPass = smallestPairedP(rounds) * comparisons <= 2 * LEVEL;
  return canPass && reach * standardError(pairs) <= Math.log1p(margin) - Math.log1p(systematic);
}

const standardError = ({ deviation, rounds }: PairsOfTurns): number =>
  deviation * Math.sqrt(VARIANCE_FACTOR / rounds);

/** The share that the interval of signed ranks really leaves out, at most 5 %. */
function intervalAlpha(pairs: number): number {
  if (pairs > MOST_EXACT_PAIRS) return LEVEL;
  let tail = 0;
  let alpha = 0;
  for (const probability of signedRankProbabilities(pairs)) {
    tail += probability;
    if (2 * tail > LEVEL) break;
    alpha = 2 * tail;
  }
  return alpha;
}

/** The probability of each sum of the positive ranks, where signs are coins (Wilcoxon). */
function signedRankProbabilities(pairs: number): number[] {
  const probabilities = new Array<number>((pairs * (pairs + 1)) / 2 + 1).fill(0);
  probabilities[0] = 1;
  for (let rank = 1; rank <= pairs; rank++)
    for (let sum = probabilities.length - 1; sum >= 0; sum--)
      probabilities[sum] = ((probabilities[sum] ?? 0) + (probabilities[sum - rank] ?? 0)) / 2;
  return probabilities;
}

/**
 * The quantile of Student's distribution, by its expansion around that of the normal distribution
 * (Abramowitz and Stegun, 26.7.5). From five degrees of freedom on the error is below 1 %.
 */
function studentQuantile(freedom: number, probability: number): number {
  const z = normalQuantile(probability);
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}

/** The quantile of the normal distribution above 0.5 (Abramowitz and Stegun, 26.2.23). */
function normalQuantile(probability: number): number {
  const t = Math.sqrt(-2 * Math.log(1 - probability));
  const numerator = 2.515517 + 0.802853 * t + 0.010328 * t ** 2;
  const denominator = 1 + 1.432788 * t + 0.189269 * t ** 2 + 0.001308 * t ** 3;
  return t - numerator / denominator;
}
