/**
 * The numbers of comparisons (M17, M28) that the plan and the report share: the plan says with them
 * what its runs can show, and the report, which does all statistics, decides with them.
 */

/** The level of a family of comparisons, by Holm's correction, and what an interval leaves out. */
export const LEVEL = 0.05;

/**
 * A difference must exceed this share to count, because the layout of memory and links alone can
 * move a program by as much (T. Mytkowicz et al., "Producing wrong data without doing anything
 * obviously wrong!", ASPLOS 2009).
 */
export const MARGIN_SHARE = 0.02;

/**
 * Fewer runs of each side decide nothing: two groups of 4 cannot give an exact Mann-Whitney p below
 * 2/70, too much at 5 % once it is corrected for three comparisons.
 */
export const MIN_RUNS = 5;

/**
 * The usual standard deviation of the logarithm of a pair's ratio of throughputs, by turns: the median
 * over the copies of archived campaigns, rounded (docs/accuracy.md).
 */
export const USUAL_PAIR_DEVIATION = 0.05;

/** Fewer pairs have no interval of 95 %, so that fewer rounds by turns show nothing. */
export const MIN_PAIRS = 6;

/**
 * One after the other, runs are paired by round from so many planned rounds on, if the test can
 * then reject at all.
 */
export const MIN_ROUNDS_TO_PAIR = 10;

/**
 * What the looks of `--runs auto` may spend of the level. The first: just enough for five runs per
 * side that do not overlap (2/252). The last of three or more; those in between share the rest
 * equally.
 */
export const LOOK_SHARES = { first: 0.008, last: 0.022 } as const;

/**
 * What can shift the ratio of two targets by turns in all rounds alike, so that no interval contains
 * it (M34).
 */
export const SYSTEMATIC_COMPONENTS = ["start of a turn", "drift", "group size", "order"] as const;

/**
 * The one component of pairs of one program, which meet all others alike. Copies show what is left of
 * them together (M34).
 */
export const COPIES_COMPONENT = "copies";

/** A ratio is settled if it changes by less than this share (M33). */
export const SETTLED_SHARE = 0.05;

/** Fewer trials at a rate show nothing (M30). */
export const MIN_TRIALS_PER_RATE = 5;

/**
 * The smallest two-sided p of the exact test of signed ranks: all pairs differ in one
 * direction.
 */
export const smallestPairedP = (pairs: number): number => 2 ** (1 - pairs);

/**
 * The smallest two-sided p of the exact Mann-Whitney test: all runs of one side lie above
 * the other's.
 */
export function smallestUnpairedP(runs: number): number {
  let p = 2;
  for (let index = 1; index <= runs; index++) p *= index / (runs + index);
  return p;
}
