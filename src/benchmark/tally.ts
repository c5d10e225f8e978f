import type { EncodedHistogram } from "../contract/result.js";
import { createHistogram, encodeHistogram } from "../judge/histogram.js";

/** Values from here on are rare, and go to the histogram at once. */
const COUNTED_US = 65_536;

/** Whole microseconds of a window. Counting one is an addition; the histogram is built once, after the window. */
export class Tally {
  readonly #counts = new Uint32Array(COUNTED_US);
  readonly #long = createHistogram();

  /** @param us not below 0 */
  record(us: number): void {
    if (us < COUNTED_US) this.#counts[us] = (this.#counts[us] ?? 0) + 1;
    else this.#long.recordValue(us);
  }

  encoded(): EncodedHistogram {
    const all = createHistogram();
    all.add(this.#long);
    this.#counts.forEach((count, us) => {
      if (count > 0) all.recordValueWithCount(us, count);
    });
    return encodeHistogram(all);
  }
}
