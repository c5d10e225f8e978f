import { toThreeDigits } from "../../contract/numbers.js";

/** One try at a rate: what was asked of it was met, or why not. */
export interface Trial {
  rate_per_second: number;
  /** `probe`: a short look; `confirmation`: the rate is held for longer, before it is accepted. */
  kind: "probe" | "confirmation";
  isMet: boolean;
  /** Why it was missed; empty where it was met. */
  reason: string;
  /** The campaign that it was. */
  campaign?: string;
}

export interface MaxRate {
  /** The highest rate that was met and confirmed; absent where not even the lowest was. */
  confirmed_per_second?: number;
  /** The lowest rate above it that was missed; absent where the highest of the range was met. */
  missed_per_second?: number;
  /** Of a search that has not ended: the highest rate above it that a probe met; nobody confirmed it. */
  probed_per_second?: number;
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
export type Attempt = (
  rate_per_second: number,
  kind: Trial["kind"],
) => Promise<Omit<Trial, "rate_per_second" | "kind">>;

/** Factor between rates while no bound is known. */
export const STEP_FACTOR = 1.6;
/** One bad moment of the host must not decide: a rate is missed once it was missed so often in a row. */
export const MISSES_TO_REJECT = 2;

/** Finds the highest rate at which what is asked is met, and the lowest one above it at which it is not. */
export async function findMaxRate(range: SearchRange, attempt: Attempt): Promise<MaxRate> {
  const search = new RateSearch(range, attempt);
  await search.run();
  return search.result;
}

/**
 * Strides until one rate is met and a higher one missed, then halves the ratio between the two. A rate is accepted only
 * after a confirmation; where that fails it counts as missed.
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
    // Up by probes alone: only the last rate that was met is worth a confirmation.
    while (this.#missed === undefined && this.#probed !== max) {
      if (await this.#isMet(candidate, "probe")) {
        this.#probed = candidate;
        candidate = Math.min(toThreeDigits(candidate * STEP_FACTOR), max);
      } else this.#missed = candidate;
    }
    if (this.#probed !== undefined) await this.#confirm(this.#probed);
    // Down, where even the first rate was too much.
    while (this.#confirmed === undefined && this.#missed !== undefined && this.#missed > min)
      await this.#decide(Math.max(toThreeDigits(this.#missed / STEP_FACTOR), min));
    while (this.#confirmed !== undefined && this.#missed !== undefined) {
      if (this.#missed / this.#confirmed <= 1 + resolution) break;
      const middle = toThreeDigits(Math.sqrt(this.#confirmed * this.#missed));
      if (middle <= this.#confirmed || middle >= this.#missed) break;
      await this.#decide(middle);
    }
  }

  /** What is known by now, also where an attempt threw. */
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

  /** Finds out whether a rate is kept: it becomes one of the two bounds. */
  async #decide(rate: number): Promise<void> {
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
