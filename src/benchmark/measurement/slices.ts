import { sum } from "../../contract/numbers.js";
import type { Outcome, Slices } from "../../contract/result.js";
import {
  countedColumns,
  SLICE_MS,
  slicesOf,
  type TimelineSlices,
  timelineColumns,
  timelineSlicesOf,
} from "../../judge/merging/slices.js";

/** Enough for ten seconds; longer windows grow. */
const FIRST_SLICES = 100;

/** The slices of one worker's window. Recording costs a division and two additions. */
export class SliceRecorder {
  #opened_ms: number;
  /** The last slice so far that may be counted in. */
  #last = Number.POSITIVE_INFINITY;
  #columns = newColumns(FIRST_SLICES);

  constructor(opened_ms: number) {
    this.#opened_ms = opened_ms;
  }

  /** Begins so many further slices, and ends the earlier ones. */
  resume(at_ms: number, bins: number): void {
    const first = this.#last === Number.POSITIVE_INFINITY ? 0 : this.#last + 1;
    this.#opened_ms = at_ms - first * SLICE_MS;
    this.#last = first + bins - 1;
  }

  /** @param us latency of an allowed or limited answer; 0 for a failure */
  record(outcome: Outcome, us: number, now_ms: number): void {
    const index = this.#indexOf(now_ms);
    const counts = this.#columns[outcome];
    counts[index] = (counts[index] ?? 0) + 1;
    if (us > 0) {
      const { latency_sum_us } = this.#columns;
      latency_sum_us[index] = (latency_sum_us[index] ?? 0) + us;
    }
  }

  /** Counts a request when it was given up, or when it was due. */
  count(what: keyof TimelineSlices, at_ms: number): void {
    const index = this.#indexOf(at_ms);
    const counts = this.#columns[what];
    counts[index] = (counts[index] ?? 0) + 1;
  }

  /** A window closes a little late; answers that came until then belong to the last slice. */
  of(length_ms: number): Slices {
    return slicesOf((name) => this.#column(name, length_ms));
  }

  forTimeline(length_ms: number): TimelineSlices {
    return timelineSlicesOf((name) => this.#column(name, length_ms));
  }

  #column(name: ColumnName, length_ms: number): number[] {
    // Rounding: 0.3 s are three slices, not four.
    const slices = Math.max(1, Math.ceil(Math.round((length_ms / SLICE_MS) * 1e6) / 1e6));
    const all = [...this.#columns[name]];
    return Array.from({ length: slices }, (_, index) =>
      index < slices - 1 ? (all[index] ?? 0) : sum(all.slice(index)),
    );
  }

  #indexOf(at_ms: number): number {
    const index = Math.min(this.#last, Math.max(0, Math.floor((at_ms - this.#opened_ms) / SLICE_MS)));
    if (index >= this.#columns.allowed.length) this.#grow(index);
    return index;
  }

  #grow(index: number): void {
    const longer = newColumns(2 * (index + 1));
    for (const name of columns) longer[name].set(this.#columns[name]);
    this.#columns = longer;
  }
}

const columns = [...countedColumns, ...timelineColumns] as const;
type ColumnName = (typeof columns)[number];

/** Sums of latencies exceed 32 bits; whole numbers below 2^53 are exact. */
const newColumns = (slices: number): Record<ColumnName, Float64Array> => ({
  allowed: new Float64Array(slices),
  limited: new Float64Array(slices),
  failed: new Float64Array(slices),
  latency_sum_us: new Float64Array(slices),
  timed_out: new Float64Array(slices),
  dropped: new Float64Array(slices),
  due: new Float64Array(slices),
});
