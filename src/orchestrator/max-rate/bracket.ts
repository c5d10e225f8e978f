import { toThreeDigits } from "../../contract/numbers.js";

export interface RateRange {
  from: number;
  min: number;
  max: number;
}

/** Between which rates the bound lies. */
export interface Bracket {
  /** The highest rate that was kept; absent where not even the lowest of the range was. */
  kept?: number;
  /** The lowest rate that was missed; absent where the highest of the range was kept. */
  missed?: number;
}

/** Factor between rates while no bound is known. */
export const STEP_FACTOR = 1.6;
/** How close the kept and the missed rate get: the trials that follow stand this close, too. */
export const BRACKET_RATIO = 1.06;

/**
 * Raises or lowers the rate until one is kept and a higher one missed, then halves the ratio. On the way up a miss is
 * tried again: a bad moment at a low rate would misplace all that follows. @yields the next; expects whether kept
 */
export function* bracketing({ from, min, max }: RateRange): Generator<number, Bracket, boolean> {
  let kept: number | undefined;
  let missed: number | undefined;
  let candidate = Math.min(Math.max(from, min), max);
  while (missed === undefined && kept !== max) {
    if ((yield candidate) || (yield candidate)) {
      kept = candidate;
      candidate = Math.min(toThreeDigits(candidate * STEP_FACTOR), max);
    } else missed = candidate;
  }
  while (kept === undefined && missed !== undefined && missed > min) {
    candidate = Math.max(toThreeDigits(missed / STEP_FACTOR), min);
    if (yield candidate) kept = candidate;
    else missed = candidate;
  }
  while (kept !== undefined && missed !== undefined && missed / kept > BRACKET_RATIO) {
    const middle = toThreeDigits(Math.sqrt(kept * missed));
    if (middle <= kept || middle >= missed) break;
    if (yield middle) kept = middle;
    else missed = middle;
  }
  return { ...(kept === undefined ? {} : { kept }), ...(missed === undefined ? {} : { missed }) };
}
