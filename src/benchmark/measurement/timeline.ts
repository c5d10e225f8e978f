import { rounded, sum } from "../../contract/numbers.js";
import type { Slices } from "../../contract/result.js";
import type { Timeline } from "../../contract/timeline.js";
import { mergeSlices, mergeTimelineSlices, SLICE_MS, type TimelineSlices } from "./slices.js";

/** Slices of a second, and of the service before a fault: ten seconds, or at least three. */
const SECOND = 1000 / SLICE_MS;
const BEFORE = { most: 10 * SECOND, least: 3 * SECOND } as const;

/**
 * The latencies of each worker's answers in the order of arrival, as its samples bring them: four bytes an answer, until
 * the window has closed. The workers do nothing for it that they do not do in any run.
 */
export class AnswerLog {
  readonly #byWorker: Uint32Array[][];

  constructor(workers: number) {
    this.#byWorker = Array.from({ length: workers }, () => []);
  }

  add(worker: number, latencies_us: Uint32Array): void {
    this.#byWorker[worker]?.push(latencies_us);
  }

  /** All answers of one worker in its window. */
  of(worker: number): Uint32Array {
    const parts = this.#byWorker[worker] ?? [];
    const all = new Uint32Array(sum(parts.map((part) => part.length)));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}

/** Cells of one microsecond up to here, then a thousandth of the value or less. */
const EXACT_BELOW_US = 2048;
const CELLS_PER_OCTAVE = EXACT_BELOW_US / 2;

const cellOf = (us: number): number => {
  if (us < EXACT_BELOW_US) return us;
  const octave = Math.floor(Math.log2(us)) - 10;
  return octave * CELLS_PER_OCTAVE + Math.floor(us / 2 ** octave);
};

/** The middle of a cell, whole microseconds. */
const middleOf = (cell: number): number => {
  if (cell < EXACT_BELOW_US) return cell;
  const octave = Math.floor(cell / CELLS_PER_OCTAVE) - 1;
  return Math.floor((cell - octave * CELLS_PER_OCTAVE + 0.5) * 2 ** octave);
};

/** Latencies that come and go, with their percentiles: exact below 2 ms, else to a thousandth. */
class CountedLatencies {
  readonly #cells = new Uint32Array(cellOf(2 ** 32 - 1) + 1);
  #count = 0;

  add(latencies_us: Uint32Array, times: 1 | -1): void {
    for (const us of latencies_us) {
      const cell = cellOf(us);
      this.#cells[cell] = (this.#cells[cell] ?? 0) + times;
    }
    this.#count += times * latencies_us.length;
  }

  /** The lowest value that this percentage of the latencies does not exceed; null without latencies. */
  at(percentile: number): number | null {
    if (this.#count === 0) return null;
    let left = Math.ceil((this.#count * percentile) / 100);
    for (const [cell, count] of this.#cells.entries()) {
      left -= count;
      if (left <= 0) return middleOf(cell);
    }
    return null;
  }
}

/** What one worker recorded in its window. */
export interface WorkerTimeline {
  slices: Slices;
  timeline_slices: TimelineSlices;
  /** Its answers in the order of arrival. */
  latencies_us: Uint32Array;
}

/** The latencies of each slice, of all workers together: a worker's answers belong to its slices in their order. */
function latenciesBySlice(workers: readonly WorkerTimeline[], slices: number): Uint32Array[][] {
  const found: Uint32Array[][] = Array.from({ length: slices }, () => []);
  for (const { slices: counted, latencies_us } of workers) {
    let at = 0;
    for (const [index, parts] of found.entries()) {
      const answers = (counted.allowed[index] ?? 0) + (counted.limited[index] ?? 0);
      parts.push(latencies_us.subarray(at, at + answers));
      at += answers;
    }
  }
  return found;
}

/**
 * A percentile over the slices from `begins(index)` to before `ends(index)`, for each slice; both never decrease.
 * `null` where the span has no answer or `begins` is undefined.
 */
function percentiles(
  bySlice: readonly (readonly Uint32Array[])[],
  percentile: number,
  span: (index: number) => readonly [begins: number, ends: number] | undefined,
): (number | null)[] {
  const counted = new CountedLatencies();
  let [from, to] = [0, 0];
  return bySlice.map((_, index) => {
    const wanted = span(index);
    if (!wanted) return null;
    const [begins, ends] = wanted;
    for (; to < ends; to++) for (const part of bySlice[to] ?? []) counted.add(part, 1);
    for (; from < begins; from++) for (const part of bySlice[from] ?? []) counted.add(part, -1);
    return counted.at(percentile);
  });
}

/** What is due by the end of each slice and has not ended by then. */
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

/** The timeline of a window, of all workers together. @param opens_s, opened_at see `Timeline` */
export function timelineOf(
  workers: readonly WorkerTimeline[],
  { opens_s, opened_at, openLoop }: { opens_s: number; opened_at: Date; openLoop: boolean },
): Timeline {
  const slices = mergeSlices(workers.map((worker) => worker.slices));
  const more = mergeTimelineSlices(workers.map((worker) => worker.timeline_slices));
  const count = slices.allowed.length;
  const bySlice = latenciesBySlice(workers, count);
  return {
    width_ms: SLICE_MS,
    opened_at: opened_at.toISOString(),
    opens_s: rounded(opens_s, 3),
    allowed: slices.allowed,
    limited: slices.limited,
    failed: slices.failed.map((failed, index) => failed - (more.timed_out[index] ?? 0)),
    timed_out: more.timed_out.map((given_up, index) => given_up + (more.dropped[index] ?? 0)),
    p50_us: percentiles(bySlice, 50, (index) => [index, index + 1]),
    p99_us: percentiles(bySlice, 99, (index) => [index, index + 1]),
    p99_second_us: percentiles(bySlice, 99, (index) =>
      index + SECOND <= count ? [index, index + SECOND] : undefined,
    ),
    p99_before_us: percentiles(bySlice, 99, (index) =>
      index >= BEFORE.least ? [Math.max(0, index - BEFORE.most), index] : undefined,
    ),
    ...(openLoop ? { backlog: backlogOf(slices, more) } : {}),
  };
}
