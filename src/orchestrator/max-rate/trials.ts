import type { MaxRateState } from "../../contract/manifest.js";
import { definedOnly } from "../../kit/defined-only.js";
import { toThreeDigits } from "../../kit/numbers.js";

type RateRange = { from: number; min: number; max: number };

/** Between which rates the bound lies. */
interface Bracket {
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
 * Raises or lowers the rate until one is kept and a higher one missed, then halves the ratio. On
 * the way up a miss is tried again: a bad moment at a low rate would misplace all that follows.
 * @yields the next rate to try, and expects whether it was kept
 */
function* bracketing({ from, min, max }: RateRange): Generator<number, Bracket, boolean> {
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
  return definedOnly({ kept, missed });
}

export interface Trial {
  rate_per_second: number;
  /** Whether the trial brackets the bound. The others are what the estimate is made of. */
  bracket: boolean;
  status: MaxRateState["trials"][number]["status"];
}

export type SearchSettings = RateRange & { trials_per_rate: number };

/** What a search for one target tries next: one rate, or each of several once. */
export type Next =
  | { phase: "bracket" | "estimate"; rates: readonly number[] }
  | { phase: "done" }
  | { phase: "given up"; rate_per_second: number };

/** Factor between neighbouring rates near the bound. */
export const LADDER_STEP = 1.03;
/** Rates on each side of the middle of the bracket. */
const RATES_A_SIDE = 2;
/** So many trials without a measurement at one rate end the search for the target. */
const MAX_VOID = 3;
const TRIALS_FOR_MAJORITY = 2;

/** Kept or missed, by rate, in the order of the trials; those that are void are left out. */
function outcomesByRate(trials: readonly Trial[]): Map<number, boolean[]> {
  const outcomes = new Map<number, boolean[]>();
  for (const { rate_per_second: rate, status } of trials) {
    if (status === "void") continue;
    outcomes.set(rate, [...(outcomes.get(rate) ?? []), status === "kept"]);
  }
  return outcomes;
}

/**
 * Follows the bracketing with the outcomes so far. @returns the rate that it asks for, or what it
 * found
 */
function bracketSoFar(range: RateRange, trials: readonly Trial[]): { rate: number } | Bracket {
  const outcomes = outcomesByRate(trials);
  const search = bracketing(range);
  let step = search.next();
  while (!step.done) {
    const kept = outcomes.get(step.value)?.shift();
    if (kept === undefined) return { rate: step.value };
    step = search.next(kept);
  }
  return step.value;
}

/**
 * What most trials at a rate say; undefined where there are too few, or as many say the opposite.
 */
function majority(kept: readonly boolean[] = []): "kept" | "missed" | undefined {
  const share = kept.filter(Boolean).length / kept.length;
  if (kept.length < TRIALS_FOR_MAJORITY || share === 0.5) return undefined;
  return share > 0.5 ? "kept" : "missed";
}

/**
 * The rates near the bound: spread evenly about the middle of the bracket, and those that were
 * tried. Where a trial at the highest was kept, or at the lowest missed, the rates do not enclose
 * what chance decides: one is added beyond, each time twice as far. Where the bound then lies
 * between two rates that are far apart, the rate halfway is added.
 */
function ladder(
  { kept, missed }: Required<Bracket>,
  { min, max }: RateRange,
  tried: ReadonlyMap<number, boolean[]>,
): number[] {
  const middle = Math.sqrt(kept * missed);
  const clamped = (rate: number) => Math.min(Math.max(toThreeDigits(rate), min), max);
  const first = Array.from({ length: 2 * RATES_A_SIDE + 1 }, (_, index) =>
    clamped(middle * LADDER_STEP ** (index - RATES_A_SIDE)),
  );
  const rates = [...new Set([...first, ...tried.keys()])].sort((a, b) => a - b);
  const [lowest = middle, highest = middle] = [rates[0], rates.at(-1)];
  const majorityAt = (rate: number) => majority(tried.get(rate));
  const wasEver = (rate: number, isKept: boolean) => tried.get(rate)?.includes(isKept) === true;

  const more: number[] = [];
  if (wasEver(highest, true)) {
    const added = rates.filter((rate) => rate > Math.max(...first)).length;
    more.push(clamped(highest * LADDER_STEP ** (2 ** added)));
  }
  if (wasEver(lowest, false)) {
    const added = rates.filter((rate) => rate < Math.min(...first)).length;
    more.push(clamped(lowest / LADDER_STEP ** (2 ** added)));
  }
  for (const [index, rate] of rates.entries()) {
    const next = rates[index + 1] ?? rate;
    const enclosesBound = majorityAt(rate) === "kept" && majorityAt(next) === "missed";
    if (enclosesBound && next / rate > BRACKET_RATIO) more.push(clamped(Math.sqrt(rate * next)));
  }
  return [...new Set([...rates, ...more])].sort((a, b) => a - b);
}

/**
 * What comes next for one target; it depends on its trials alone, so that a resumed search goes on
 * where it was.
 */
export function nextTrials(settings: SearchSettings, trials: readonly Trial[]): Next {
  const isGivenUp = (rate: number) =>
    trials.filter(({ rate_per_second, status }) => rate_per_second === rate && status === "void")
      .length >= MAX_VOID;
  const asked = bracketSoFar(
    settings,
    trials.filter(({ bracket }) => bracket),
  );
  if ("rate" in asked) {
    if (isGivenUp(asked.rate)) return { phase: "given up", rate_per_second: asked.rate };
    return { phase: "bracket", rates: [asked.rate] };
  }
  const { kept, missed } = asked;
  if (kept === undefined || missed === undefined) return { phase: "done" };
  const tried = outcomesByRate(trials.filter(({ bracket }) => !bracket));
  const due = ladder({ kept, missed }, settings, tried).filter(
    (rate) => (tried.get(rate)?.length ?? 0) < settings.trials_per_rate,
  );
  const lost = due.find(isGivenUp);
  if (lost !== undefined) return { phase: "given up", rate_per_second: lost };
  return due.length > 0 ? { phase: "estimate", rates: due } : { phase: "done" };
}

/**
 * The capacity that an estimate of the time assumes where nothing is known, as a multiple of the
 * first rate.
 */
export const EXAMPLE_FACTOR = 5;

function likelyCapacity({ from }: RateRange, trials: readonly Trial[]): number {
  const rates = (status: Trial["status"]) =>
    trials.filter((trial) => trial.status === status).map(({ rate_per_second }) => rate_per_second);
  const kept = Math.max(...rates("kept"));
  const missed = Math.min(...rates("missed").filter((rate) => rate > kept));
  const isKeptKnown = Number.isFinite(kept);
  const isMissedKnown = Number.isFinite(missed);
  if (isKeptKnown && isMissedKnown) return Math.sqrt(kept * missed);
  if (isKeptKnown) return Math.max(from * EXAMPLE_FACTOR, kept * STEP_FACTOR);
  if (isMissedKnown) return missed / STEP_FACTOR;
  return from * EXAMPLE_FACTOR;
}

/** How many more trials a target is likely to take. */
export function expectedTrials(settings: SearchSettings, trials: readonly Trial[]): number {
  const capacity = likelyCapacity(settings, trials);
  const all = [...trials];
  for (let next = nextTrials(settings, all); "rates" in next; next = nextTrials(settings, all)) {
    const bracket = next.phase === "bracket";
    for (const rate_per_second of next.rates)
      all.push({
        rate_per_second,
        bracket,
        status: rate_per_second <= capacity ? "kept" : "missed",
      });
  }
  return all.length - trials.length;
}
