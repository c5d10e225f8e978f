import type { EncodedHistogram, Outcome } from "../../contract/result.js";
import { createHistogram, encodeHistogram } from "../../judge/histogram.js";

/** Values from here on are rare and go straight into the HDR histogram. */
const COUNTED_BELOW_US = 65_536;

/** A histogram of whole microseconds. Recording is one addition; the HDR histogram is built once, after the window. */
export class MicrosecondHistogram {
  readonly #counts = new Uint32Array(COUNTED_BELOW_US);
  readonly #long = createHistogram();

  /** @param us not below 0 */
  record(us: number): void {
    if (us < COUNTED_BELOW_US) this.#counts[us] = (this.#counts[us] ?? 0) + 1;
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

export const histogramsByOutcome = (): Record<Outcome, MicrosecondHistogram> => ({
  allowed: new MicrosecondHistogram(),
  limited: new MicrosecondHistogram(),
  failed: new MicrosecondHistogram(),
});

export function encodeByOutcome(
  histograms: Record<Outcome, MicrosecondHistogram>,
): Record<Outcome, EncodedHistogram> {
  return {
    allowed: histograms.allowed.encoded(),
    limited: histograms.limited.encoded(),
    failed: histograms.failed.encoded(),
  };
}
