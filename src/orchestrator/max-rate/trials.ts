import type { MaxRateState } from "../../contract/manifest.js";
import { definedOnly } from "../../kit/defined-only.js";
import { toThreeDigits } from "../../kit/numbers.js";

type RateRange = { from: number; min: number; max: number };

/** The rates between which the bound lies. */
interface Bracket {
  /** The highest rate that was kept; absent where even the lowest of the range was missed. */
  kept?: number;
  /** The lowest rate that was missed; absent where the highest of the range was kept. */
  missed?: number;
}

/** The factor between rates while no bound is known. */
export const STEP_FACTOR = 1.6;

/** The ratio of the missed and the kept rate at which bracketing ends. */
export const BRACKET_RATIO = 1.06;

/**
 * Raises or lowers the rate until one is kept and a higher one missed, and then halves the ratio. On
 * the way up a miss is tried again, because a bad moment at a low rate would misplace all later
 * trials.
 * @yields the next rate to try, and takes whether it was kept
 */
function* bracketing({ from, min, max }: RateRange): Generator<number, Bracket, boolean> {
  let kept: number | undefined;
  let missed: number | undefined;
  let candidate = Math.min(Math.max(from, min), max);
  while (missed === undefined && kept !== max) {
    const isKept = (yield candidate) || (yield candidate);
    if (isKept) {
      kept = candidate;
      candidate = Math.min(toThreeDigits(candidate * STEP_FACTOR), max);
    } else {
      missed = candidate;
    }
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
  /** Whether the trial brackets the bound. The estimate is made of the other trials. */
  bracket: boolean;
  status: MaxRateState["trials"][number]["status"];
}

export type SearchSettings = RateRange & { trials_per_rate: number };

/** The next step of a search for one target: rates that are tried once each, or the end. */
export type Next =
  | { phase: "bracket" | "estimate"; rates: readonly number[] }
  | { phase: "done" }
  | { phase: "given up"; rate_per_second: number };

/** The factor between neighbouring rates near the bound. */
export const LADDER_STEP = 1.03;

/** The number of rates on each side of the middle of the bracket. */
const RATES_A_SIDE = 2;

/** So many trials without a measurement at one rate end the search for the target. */
const MAX_VOID = 3;
const TRIALS_FOR_MAJORITY = 2;

/** Whether trials were kept, by rate and in their order, without those that are void. */
function outcomesByRate(trials: readonly Trial[]): Map<number, boolean[]> {
  const outcomes = new Map<number, boolean[]>();
  for (const { rate_per_second: rate, status } of trials) {
    if (status === "void") continue;
    outcomes.set(rate, [...(outcomes.get(rate) ?? []), status === "kept"]);
  }
  return outcomes;
}

/**
 * Follows the bracketing with the outcomes so far.
 * @returns the next rate to try, or the bracket
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
 * The status of most trials at a rate; undefined where there are too few, or as many have the
 * opposite one.
 */
function majority(kept: readonly boolean[] = []): "kept" | "missed" | undefined {
  const share = kept.filter(Boolean).length / kept.length;
  if (kept.length < TRIALS_FOR_MAJORITY || share === 0.5) return undefined;
  return share > 0.5 ? "kept" : "missed";
}

/**
 * The rates near the bound, which are spread evenly about the middle of the bracket, and those that
 * were tried. Where a trial at the highest was kept, or at the lowest missed, the rates do not
 * enclose the range in which chance decides. Then one is added beyond, each time twice as far. Where
 * the bound lies between two rates that are far apart, the rate halfway is added.
 */
function ladder(
  { kept, missed }: Required<Bracket>,
  { min, max }: RateRange,
  tried: ReadonlyMap<number, boolean[]>,
): number[] {
  const middle = Math.sqrt(kept * missed);
  const clamped = (rate: number) => Math.min(Math.max(toThreeDigits(rate), min), max);
  const evenRates = Array.from({ length: 2 * RATES_A_SIDE + 1 }, (_, index) =>
    clamped(middle * LADDER_STEP ** (index - RATES_A_SIDE)),
  );
  const rates = [...new Set([...evenRates, ...tried.keys()])].sort((a, b) => a - b);
  const [lowest = middle, highest = middle] = [rates[0], rates.at(-1)];
  const majorityAt = (rate: number) => majority(tried.get(rate));
  const wasEver = (rate: number, isKept: boolean) => tried.get(rate)?.includes(isKept) === true;

  const addedRates: number[] = [];
  if (wasEver(highest, true)) {
    const added = rates.filter((rate) => rate > Math.max(...evenRates)).length;
    addedRates.push(clamped(highest * LADDER_STEP ** (2 ** added)));
  }
  if (wasEver(lowest, false)) {
    const added = rates.filter((rate) => rate < Math.min(...evenRates)).length;
    addedRates.push(clamped(lowest / LADDER_STEP ** (2 ** added)));
  }
  for (const [index, rate] of rates.entries()) {
    const next = rates[index + 1] ?? rate;
    const enclosesBound = majorityAt(rate) === "kept" && majorityAt(next) === "missed";
    if (enclosesBound && next / rate > BRACKET_RATIO)
      addedRates.push(clamped(Math.sqrt(rate * next)));
  }
  return [...new Set([...rates, ...addedRates])].sort((a, b) => a - b);
}

/**
 * The next step of a search for one target. It depends on the trials alone, so that a resumed search
 * continues where it was.
 */
export function nextTrials(settings: SearchSettings, trials: readonly Trial[]): Next {
  const isGivenUp = (rate: number) =>
    trials.filter(({ rate_per_second, status }) => rate_per_second === rate && status === "void")
      .length >= MAX_VOID;
  const bracketStep = bracketSoFar(
    settings,
    trials.filter(({ bracket }) => bracket),
  );
  if ("rate" in bracketStep) {
    const { rate } = bracketStep;
    if (isGivenUp(rate)) return { phase: "given up", rate_per_second: rate };
    return { phase: "bracket", rates: [rate] };
  }

  const { kept, missed } = bracketStep;
  if (kept === undefined || missed === undefined) return { phase: "done" };

  const tried = outcomesByRate(trials.filter(({ bracket }) => !bracket));
  const due = ladder({ kept, missed }, settings, tried).filter(
    (rate) => (tried.get(rate)?.length ?? 0) < settings.trials_per_rate,
  );
  const givenUpRate = due.find(isGivenUp);
  if (givenUpRate !== undefined) return { phase: "given up", rate_per_second: givenUpRate };
  return due.length > 0 ? { phase: "estimate", rates: due } : { phase: "done" };
}

/** The capacity that an estimate assumes before the first trial, as a multiple of the first rate. */
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
  const allTrials = [...trials];
  let next = nextTrials(settings, allTrials);
  while ("rates" in next) {
    const bracket = next.phase === "bracket";
    for (const rate_per_second of next.rates) {
      const status = rate_per_second <= capacity ? "kept" : "missed";
      allTrials.push({ rate_per_second, bracket, status });
    }
    next = nextTrials(settings, allTrials);
  }
  return allTrials.length - trials.length;
}
