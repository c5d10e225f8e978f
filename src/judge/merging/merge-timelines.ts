import type { Slices } from "../../contract/request-outcomes.js";
import type { Timeline } from "../../contract/timeline.js";
import { definedOnly } from "../../kit/defined-only.js";
import { rounded } from "../../kit/numbers.js";
import { BEFORE_S } from "../figures-of-faults.js";
import { SLICE_MS, SLICES_PER_SECOND, type TimelineSlices } from "./slices.js";

/** How many slices before a fault show the service without it, at most and at least. */
const BEFORE = {
  most: BEFORE_S.most * SLICES_PER_SECOND,
  least: BEFORE_S.least * SLICES_PER_SECOND,
} as const;

/**
 * Cells are a microsecond wide up to here, then a thousandth of the value or less, like the buckets
 * of HDR histograms.
 */
const EXACT_BELOW_US = 2048;
const CELLS_PER_OCTAVE = EXACT_BELOW_US / 2;

const cellOf = (us: number): number => {
  if (us < EXACT_BELOW_US) return us;
  const octave = Math.floor(Math.log2(us)) - 10;
  return octave * CELLS_PER_OCTAVE + Math.floor(us / 2 ** octave);
};

const middleOf = (cell: number): number => {
  if (cell < EXACT_BELOW_US) return cell;
  const octave = Math.floor(cell / CELLS_PER_OCTAVE) - 1;
  return Math.floor((cell - octave * CELLS_PER_OCTAVE + 0.5) * 2 ** octave);
};

/** Latencies of answers in microseconds, each as often as `counts` says, or once. */
export type CountedValues = { values_us: ArrayLike<number>; counts?: ArrayLike<number> };

/** Latencies that come and go, with their percentiles: exact below 2 ms, else to a thousandth. */
class LatencyCells {
  readonly #cells = new Uint32Array(cellOf(2 ** 32 - 1) + 1);
  #count = 0;

  add({ values_us, counts }: CountedValues, times: 1 | -1): void {
    for (let index = 0; index < values_us.length; index++) {
      const cell = cellOf(values_us[index] ?? 0);
      const change = times * (counts?.[index] ?? 1);
      this.#cells[cell] = (this.#cells[cell] ?? 0) + change;
      this.#count += change;
    }
  }

  /**
   * The lowest value that this percentage of the latencies does not exceed. It is null
   * without latencies.
   */
  at(percentile: number): number | null {
    if (this.#count === 0) return null;
    let remaining = Math.ceil((this.#count * percentile) / 100);
    for (const [cell, count] of this.#cells.entries()) {
      remaining -= count;
      if (remaining <= 0) return middleOf(cell);
    }
    return null;
  }
}

/**
 * For each slice a percentile over the slices that `span` names for it. It is null without
 * an answer.
 */
function percentiles(
  bySlice: readonly (readonly CountedValues[])[],
  percentile: number,
  span: (index: number) => readonly [begins: number, ends: number] | undefined,
): (number | null)[] {
  const cells = new LatencyCells();
  let from = 0;
  let to = 0;
  return bySlice.map((_, index) => {
    const interval = span(index);
    if (!interval) return null;

    const [begins, ends] = interval;
    for (; to < ends; to++) for (const part of bySlice[to] ?? []) cells.add(part, 1);
    for (; from < begins; from++) for (const part of bySlice[from] ?? []) cells.add(part, -1);
    return cells.at(percentile);
  });
}

/** The requests that are due by the end of each slice and have not ended by then. */
function backlogOf(slices: Slices, { dropped, due }: TimelineSlices): number[] {
  let waiting = 0;
  return due.map((count, index) => {
    const ended =
      (slices.allowed[index] ?? 0) +
      (slices.limited[index] ?? 0) +
      (slices.failed[index] ?? 0) +
      (dropped[index] ?? 0);
    waiting += count - ended;
    return Math.max(0, waiting);
  });
}

/** When and how a window was loaded, as its timeline states it. */
export type LoadedWindow = { opens_s: number; opened_at: Date; openLoop: boolean };

export function timelineFrom(
  slices: Slices,
  more: TimelineSlices,
  bySlice: readonly (readonly CountedValues[])[],
  { opens_s, opened_at, openLoop }: LoadedWindow,
): Timeline {
  const count = slices.allowed.length;
  return definedOnly({
    width_ms: SLICE_MS as typeof SLICE_MS,
    opened_at: opened_at.toISOString(),
    opens_s: rounded(opens_s, 3),
    allowed: slices.allowed,
    limited: slices.limited,
    failed: slices.failed.map((failed, index) => failed - (more.timed_out[index] ?? 0)),
    timed_out: more.timed_out.map((given_up, index) => given_up + (more.dropped[index] ?? 0)),
    p50_us: percentiles(bySlice, 50, (index) => [index, index + 1]),
    p99_us: percentiles(bySlice, 99, (index) => [index, index + 1]),
    p99_second_us: percentiles(bySlice, 99, (index) =>
      index + SLICES_PER_SECOND <= count ? [index, index + SLICES_PER_SECOND] : undefined,
    ),
    p99_before_us: percentiles(bySlice, 99, (index) =>
      index >= BEFORE.least ? [Math.max(0, index - BEFORE.most), index] : undefined,
    ),
    backlog: openLoop ? backlogOf(slices, more) : undefined,
  });
}
