/** One try at a rate: what was asked of it was met, or why not. */
export interface Trial {
  rate_per_second: number;
  /** `probe`: a short look; `confirmation`: the rate is held for longer, before it is accepted. */
  kind: "probe" | "confirmation";
  isMet: boolean;
  /** Why it was missed; empty where it was met. */
  reason: string;
}

export interface MaxRate {
  /** The highest rate that was met and confirmed; absent where not even the lowest was. */
  confirmed_per_second?: number;
  /** The lowest rate above it that was missed; absent where the highest of the range was met. */
  missed_per_second?: number;
  trials: Trial[];
}

export interface SearchRange {
  /** Where the search begins. */
  from: number;
  /** Rates below and above are not tried. */
  min: number;
  max: number;
  /** How near the confirmed and the missed rate shall come to each other: 0.02 is 2 %. */
  resolution: number;
}

/** Tries a rate. */
export type Try = (
  rate_per_second: number,
  kind: Trial["kind"],
) => Promise<{ isMet: boolean; reason: string }>;

/** Factor between rates while no bound is known. */
const STRIDE = 1.6;
/** One bad moment of the host must not decide: a rate is missed once it was missed so often in a row. */
const MISSES = 2;

/** Three digits are finer than any resolution, and read better. */
const rounded = (rate: number): number => Number(rate.toPrecision(3));

/**
 * Finds the highest rate at which what is asked is met: strides until one rate is met and a higher one missed, then
 * halves the ratio between the two. A rate is accepted only after a confirmation; where that fails it counts as missed.
 */
export async function findMaxRate(range: SearchRange, attempt: Try): Promise<MaxRate> {
  const trials: Trial[] = [];
  const tried = async (rate_per_second: number, kind: Trial["kind"]): Promise<boolean> => {
    for (let miss = 0; miss < MISSES; miss++) {
      const { isMet, reason } = await attempt(rate_per_second, kind);
      trials.push({ rate_per_second, kind, isMet, reason });
      if (isMet) return true;
    }
    return false;
  };
  const isHeld = async (rate: number): Promise<boolean> =>
    (await tried(rate, "probe")) && (await tried(rate, "confirmation"));

  let confirmed: number | undefined;
  let missed: number | undefined;
  let candidate = Math.min(Math.max(range.from, range.min), range.max);
  // Up by probes alone: only the last rate that was met is worth a confirmation.
  let probed: number | undefined;
  while (missed === undefined && probed !== range.max) {
    if (await tried(candidate, "probe")) {
      probed = candidate;
      candidate = Math.min(rounded(candidate * STRIDE), range.max);
    } else missed = candidate;
  }
  if (probed !== undefined && (await tried(probed, "confirmation"))) confirmed = probed;
  else missed = probed ?? missed;

  // Down, where even the first rate was too much.
  while (confirmed === undefined && missed !== undefined && missed > range.min) {
    candidate = Math.max(rounded(missed / STRIDE), range.min);
    if (await isHeld(candidate)) confirmed = candidate;
    else missed = candidate;
  }

  while (confirmed !== undefined && missed !== undefined && missed / confirmed > 1 + range.resolution) {
    const middle = rounded(Math.sqrt(confirmed * missed));
    if (middle <= confirmed || middle >= missed) break;
    if (await isHeld(middle)) confirmed = middle;
    else missed = middle;
  }
  return {
    ...(confirmed === undefined ? {} : { confirmed_per_second: confirmed }),
    ...(missed === undefined ? {} : { missed_per_second: missed }),
    trials,
  };
}
