import { toThreeDigits } from "../../contract/numbers.js";

/** One attempt at a rate. */
export interface Trial {
  rate_per_second: number;
  /** `probe`: a short run; `confirmation`: a longer one before the rate is accepted. */
  kind: "probe" | "confirmation";
  isMet: boolean;
  /** Why it was missed; empty where it was met. */
  reason: string;
  /** The id of its campaign. */
  campaign?: string;
}

export interface MaxRate {
  /** The highest confirmed rate; absent where not even the lowest was met. */
  confirmed_per_second?: number;
  /** The lowest missed rate above it; absent where the highest of the range was met. */
  missed_per_second?: number;
  /** The highest rate above it that a probe met, where the search stopped before its confirmation. */
  probed_per_second?: number;
  trials: Trial[];
}

export interface SearchRange {
  /** The first rate. */
  from: number;
  /** The lowest and highest rates. */
  min: number;
  max: number;
  /** How close the confirmed and the missed rate must get: 0.02 is 2 %. */
  resolution: number;
}

/** Makes one trial. */
export type Attempt = (
  rate_per_second: number,
  kind: Trial["kind"],
) => Promise<Omit<Trial, "rate_per_second" | "kind">>;

/** Factor between rates while no bound is known. */
export const STEP_FACTOR = 1.6;
/** A rate counts as missed after so many misses in a row: one bad moment of the host must not decide. */
export const MISSES_TO_REJECT = 2;

/** Finds the highest rate that is met and the lowest rate above it that is missed. */
export async function findMaxRate(range: SearchRange, attempt: Attempt): Promise<MaxRate> {
  const search = new RateSearch(range, attempt);
  await search.run();
  return search.result;
}

/**
 * Raises or lowers the rate until one is met and a higher one missed, then bisects the ratio between the two. A rate is
 * accepted only after a confirmation; if that fails, the rate counts as missed.
 */
export class RateSearch {
  readonly #range: SearchRange;
  readonly #attempt: Attempt;
  readonly #trials: Trial[] = [];
  #confirmed: number | undefined;
  #missed: number | undefined;
  /** The last rate that a probe met. */
  #probed: number | undefined;

  constructor(range: SearchRange, attempt: Attempt) {
    this.#range = range;
    this.#attempt = attempt;
  }

  async run(): Promise<void> {
    const { from, min, max, resolution } = this.#range;
    let candidate = Math.min(Math.max(from, min), max);
    // Up by probes only: just the last rate that was met is confirmed.
    while (this.#missed === undefined && this.#probed !== max) {
      if (await this.#isMet(candidate, "probe")) {
        this.#probed = candidate;
        candidate = Math.min(toThreeDigits(candidate * STEP_FACTOR), max);
      } else this.#missed = candidate;
    }
    if (this.#probed !== undefined) await this.#confirm(this.#probed);
    // Down, where even the first rate was too high.
    while (this.#confirmed === undefined && this.#missed !== undefined && this.#missed > min)
      await this.#narrow(Math.max(toThreeDigits(this.#missed / STEP_FACTOR), min));
    while (this.#confirmed !== undefined && this.#missed !== undefined) {
      if (this.#missed / this.#confirmed <= 1 + resolution) break;
      const middle = toThreeDigits(Math.sqrt(this.#confirmed * this.#missed));
      if (middle <= this.#confirmed || middle >= this.#missed) break;
      await this.#narrow(middle);
    }
  }

  /** The result so far, also after an attempt threw. */
  get result(): MaxRate {
    const [confirmed, missed, probed] = [this.#confirmed, this.#missed, this.#probed];
    const isOpen =
      probed !== undefined && probed > (confirmed ?? 0) && probed < (missed ?? Number.POSITIVE_INFINITY);
    return {
      ...(confirmed === undefined ? {} : { confirmed_per_second: confirmed }),
      ...(missed === undefined ? {} : { missed_per_second: missed }),
      ...(isOpen ? { probed_per_second: probed } : {}),
      trials: this.#trials,
    };
  }

  /** Tries a rate, which becomes one of the two bounds. */
  async #narrow(rate: number): Promise<void> {
    if (await this.#isMet(rate, "probe")) {
      this.#probed = rate;
      await this.#confirm(rate);
    } else this.#missed = rate;
  }

  async #confirm(rate: number): Promise<void> {
    if (await this.#isMet(rate, "confirmation")) this.#confirmed = rate;
    else this.#missed = rate;
  }

  async #isMet(rate_per_second: number, kind: Trial["kind"]): Promise<boolean> {
    for (let miss = 0; miss < MISSES_TO_REJECT; miss++) {
      const trial = await this.#attempt(rate_per_second, kind);
      this.#trials.push({ rate_per_second, kind, ...trial });
      if (trial.isMet) return true;
    }
    return false;
  }
}
