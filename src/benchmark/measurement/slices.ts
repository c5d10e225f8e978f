import { sum } from "../../contract/numbers.js";
import type { Outcome, Slices } from "../../contract/result.js";

/** Length of a slice. */
export const SLICE_MS = 100;
/** Enough for ten seconds; longer windows grow. */
const FIRST_SLICES = 100;

const counted = ["allowed", "limited", "failed", "latency_sum_us"] as const;

/** The slices of one worker's window. Recording costs a division and two additions. */
export class SliceRecorder {
  readonly #opened_ms: number;
  #columns = newColumns(FIRST_SLICES);

  /** @param opened_ms when the first slice begins, monotonic milliseconds */
  constructor(opened_ms: number) {
    this.#opened_ms = opened_ms;
  }

  /** @param us latency of an allowed or limited answer; 0 for a failure */
  record(outcome: Outcome, us: number, now_ms: number): void {
    const index = Math.max(0, Math.floor((now_ms - this.#opened_ms) / SLICE_MS));
    if (index >= this.#columns.allowed.length) this.#grow(index);
    const counts = this.#columns[outcome];
    counts[index] = (counts[index] ?? 0) + 1;
    if (us > 0) {
      const { latency_sum_us } = this.#columns;
      latency_sum_us[index] = (latency_sum_us[index] ?? 0) + us;
    }
  }

  /**
   * The slices of a window of this length. A window closes a little late, and answers that came until then belong to the
   * last slice.
   */
  of(length_ms: number): Slices {
    // Rounding: 0.3 s are three slices, not four.
    const slices = Math.max(1, Math.ceil(Math.round((length_ms / SLICE_MS) * 1e6) / 1e6));
    return slicesOf((name) => {
      const all = [...this.#columns[name]];
      return Array.from({ length: slices }, (_, index) =>
        index < slices - 1 ? (all[index] ?? 0) : sum(all.slice(index)),
      );
    });
  }

  #grow(index: number): void {
    const longer = newColumns(2 * (index + 1));
    for (const name of counted) longer[name].set(this.#columns[name]);
    this.#columns = longer;
  }
}

/** Sums of latencies exceed 32 bits; whole numbers below 2^53 are exact. */
const newColumns = (slices: number): Record<(typeof counted)[number], Float64Array> => ({
  allowed: new Float64Array(slices),
  limited: new Float64Array(slices),
  failed: new Float64Array(slices),
  latency_sum_us: new Float64Array(slices),
});

/** Adds up the slices of several workers, whose windows opened together. */
export function mergeSlices(parts: readonly Slices[]): Slices {
  const length = Math.max(0, ...parts.map(({ allowed }) => allowed.length));
  return slicesOf((name) =>
    Array.from({ length }, (_, index) => sum(parts.map((part) => part[name][index] ?? 0))),
  );
}

const slicesOf = (column: (name: (typeof counted)[number]) => number[]): Slices => ({
  width_ms: SLICE_MS,
  allowed: column("allowed"),
  limited: column("limited"),
  failed: column("failed"),
  latency_sum_us: column("latency_sum_us"),
});
