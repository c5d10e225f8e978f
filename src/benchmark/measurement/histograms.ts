import type { EncodedHistogram, LatencyHistograms } from "../../contract/latency-figures.js";
import type { Outcome } from "../../contract/request-outcomes.js";
import { byLatencyKind, createHistogram, encodeHistogram } from "../../judge/histogram.js";

/** Values from here on are rare and go straight into the HDR histogram. */
const COUNTED_BELOW_US = 65_536;

export const latencyUs = (ms: number): number => Math.max(1, Math.round(ms * 1000));

/**
 * Counts whole microseconds. Recording is one addition, and the HDR histogram is built once, after
 * the window.
 */
export class MicrosecondHistogram {
  readonly #counts = new Uint32Array(COUNTED_BELOW_US);
  readonly #long = createHistogram();

  /** @param us not below 0 */
  record(us: number): void {
    if (us < COUNTED_BELOW_US) this.#counts[us] = (this.#counts[us] ?? 0) + 1;
    else this.#long.recordValue(us);
  }

  encoded(): EncodedHistogram {
    const histogram = createHistogram();
    histogram.add(this.#long);
    this.#counts.forEach((count, us) => {
      if (count > 0) histogram.recordValueWithCount(us, count);
    });
    return encodeHistogram(histogram);
  }
}

type RecordedLatencies = Record<Outcome | "censored", MicrosecondHistogram>;

export const newLatencies = (): RecordedLatencies => ({
  allowed: new MicrosecondHistogram(),
  limited: new MicrosecondHistogram(),
  failed: new MicrosecondHistogram(),
  censored: new MicrosecondHistogram(),
});

export const encodeLatencies = (latencies: RecordedLatencies): LatencyHistograms =>
  byLatencyKind((kind) => latencies[kind].encoded());
