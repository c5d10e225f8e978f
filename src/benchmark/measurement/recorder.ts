import type { LatencyHistograms } from "../../contract/latency-figures.js";
import type { AfterWindow, Counts, Outcome, Slices } from "../../contract/request-outcomes.js";
import {
  countedColumns,
  SLICE_MS,
  slicesOf,
  type TimelineSlices,
  timelineColumns,
  timelineSlicesOf,
} from "../../judge/merging/slices.js";
import { sum } from "../../kit/numbers.js";
import { cheapMonotonicMs } from "./clock.js";
import { encodeLatencies, latencyUs, newLatencies } from "./histograms.js";
import type { TurnBins } from "./turn-bins.js";

/** Room for ten seconds, which grows in longer windows. */
const FIRST_SLICES = 100;

/** Records the slices of one worker's window. Recording costs a division and two additions. */
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

  /** @param us latency of an allowed or limited answer. It is 0 for a failure */
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

  /**
   * The slices of the window. The window closes a little late, and answers until then
   * belong to the last slice.
   */
  of(length_ms: number): Slices {
    return slicesOf((name) => this.#column(name, length_ms));
  }

  forTimeline(length_ms: number): TimelineSlices {
    return timelineSlicesOf((name) => this.#column(name, length_ms));
  }

  #column(name: ColumnName, length_ms: number): number[] {
    // Rounding: 0.3 s are three slices, not four.
    const slices = Math.max(1, Math.ceil(Math.round((length_ms / SLICE_MS) * 1e6) / 1e6));
    const counts = [...this.#columns[name]];
    return Array.from({ length: slices }, (_, index) =>
      index < slices - 1 ? (counts[index] ?? 0) : sum(counts.slice(index)),
    );
  }

  #indexOf(at_ms: number): number {
    const index = Math.min(
      this.#last,
      Math.max(0, Math.floor((at_ms - this.#opened_ms) / SLICE_MS)),
    );
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

export const SAMPLE_MS = 1000;

export interface WorkerSample {
  /** The end of the interval in monotonic milliseconds. */
  at_ms: number;
  allowed: number;
  limited: number;
  failed: number;
  /** The latencies of allowed and limited answers in microseconds, in order of arrival. */
  latencies_us: Uint32Array<ArrayBuffer>;
  /**
   * Utilisation of the worker's event loop in this interval, from 0 to 1. The worker thread sets
   * it.
   */
  event_loop_utilisation?: number;
}

/**
 * Keeps the latencies of one interval. Appending costs almost nothing, and the main thread gets
 * plain numbers. Encoding a histogram once a second would block the worker for some milliseconds,
 * in which it sends and reads nothing. The buffer is copied, not transferred, because the first
 * transfer in a thread makes V8 discard its compiled code for typed arrays, which is all the code
 * that reads and records here.
 */
class SampleBuffer {
  #values = new Uint32Array(16_384);
  #count = 0;

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const longer = new Uint32Array(2 * this.#count);
      longer.set(this.#values);
      this.#values = longer;
    }
    this.#values[this.#count++] = value;
  }

  take(): Uint32Array<ArrayBuffer> {
    const values = this.#values.slice(0, this.#count);
    this.#count = 0;
    return values;
  }
}

const zeroCounts = () => ({ allowed: 0, limited: 0, failed: 0 });

/** How requests ended that were sent, in the window or after it. */
const zeroEnds = (): AfterWindow => ({
  allowed: 0,
  limited: 0,
  failed_answers: 0,
  connection_errors: 0,
  timed_out: 0,
});

/** Allowed and limited answers, the followed ones included. */
export interface EndedAnswers {
  answers: number;
  latency_sum_us: number;
}

/** Records a worker's window. After `close`, followed requests only add their latency (M23). */
export class ResponseRecorder {
  readonly #latencies = newLatencies();
  readonly #codeText: (code: number) => string;
  readonly #byCode = new Uint32Array(1000);
  readonly #inWindow = zeroEnds();
  readonly #afterWindow = zeroEnds();
  readonly #buffer = new SampleBuffer();
  #slices: SliceRecorder;
  #interval = zeroCounts();
  #isClosed = false;
  #ended: EndedAnswers = { answers: 0, latency_sum_us: 0 };
  readonly #turnBins: TurnBins | undefined;

  /** @param turnBins takes the answers of a part of turns by the time since their turn began */
  constructor(codeText: (code: number) => string, turnBins?: TurnBins) {
    this.#codeText = codeText;
    this.#turnBins = turnBins;
    this.#slices = new SliceRecorder(cheapMonotonicMs());
  }

  /**
   * Opens the window, from which slices count. Without this call it opens when the recorder is
   * made.
   */
  open(at_ms: number): void {
    this.#slices = new SliceRecorder(at_ms);
  }

  /**
   * Begins a further turn of a window by turns, with `bins` slices of 100 ms that no other turn
   * shares.
   */
  resume(at_ms: number, bins: number): void {
    this.#slices.resume(at_ms, bins);
    this.#isClosed = false;
  }

  /**
   * Records an answer.
   * @param code the driver's code, below 1000
   * @param ms latency with fractions
   * @param now_ms monotonic milliseconds
   */
  answer(outcome: Outcome, code: number, ms: number, now_ms: number): void {
    const us = latencyUs(ms);
    this.#latencies[outcome].record(us);
    const ends = this.#isClosed ? this.#afterWindow : this.#inWindow;
    ends[outcome === "failed" ? "failed_answers" : outcome]++;
    if (outcome !== "failed") {
      this.#ended.answers++;
      this.#ended.latency_sum_us += us;
    }
    if (this.#isClosed) return;

    this.#byCode[code] = (this.#byCode[code] ?? 0) + 1;
    this.#interval[outcome]++;
    if (outcome !== "failed") {
      this.#buffer.push(us);
      this.#turnBins?.add(us, now_ms);
    }
    this.#slices.record(outcome, outcome === "failed" ? 0 : us, now_ms);
  }

  lost(age_ms: number, now_ms: number): void {
    this.#unanswered("connection_errors", age_ms, now_ms);
  }

  /** Records a request that was given up. @param age_ms its age then */
  timedOut(age_ms: number, now_ms: number): void {
    this.#unanswered("timed_out", age_ms, now_ms);
  }

  due(due_ms: number): void {
    this.#slices.count("due", due_ms);
  }

  /**
   * Records a send that was given up, in the latencies and in the timeline alone.
   * @param age_ms milliseconds since it was due
   */
  dropped(age_ms: number, now_ms: number): void {
    this.notSent(age_ms);
    this.#slices.count("dropped", now_ms);
  }

  /** Records a request of this age that was never sent, in the latencies alone. */
  notSent(age_ms: number): void {
    this.#latencies.censored.record(latencyUs(age_ms));
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Ends the current interval. @param at_ms monotonic milliseconds */
  sample(at_ms: number): WorkerSample {
    const sample = { at_ms, ...this.#interval, latencies_us: this.#buffer.take() };
    this.#interval = zeroCounts();
    return sample;
  }

  /** @param sent how many requests were sent; those that did not end in the window were followed */
  counts(sent: number): Counts {
    const byCode: Record<string, number> = {};
    this.#byCode.forEach((count, code) => {
      if (count > 0) byCode[this.#codeText(code)] = count;
    });
    const followed = sent - sum(Object.values(this.#inWindow));

    return {
      sent,
      followed,
      ...this.#inWindow,
      after_window: { ...this.#afterWindow },
      cut: 0,
      by_code: byCode,
    };
  }

  /** The answers so far. */
  get ended(): EndedAnswers {
    return { ...this.#ended };
  }

  histograms(): LatencyHistograms {
    return encodeLatencies(this.#latencies);
  }

  slices(length_ms: number): Slices {
    return this.#slices.of(length_ms);
  }

  timelineSlices(length_ms: number): TimelineSlices {
    return this.#slices.forTimeline(length_ms);
  }

  #unanswered(end: "connection_errors" | "timed_out", age_ms: number, now_ms: number): void {
    this.#latencies.censored.record(latencyUs(age_ms));
    if (this.#isClosed) {
      this.#afterWindow[end]++;
      return;
    }
    this.#inWindow[end]++;
    this.#interval.failed++;
    this.#slices.record("failed", 0, now_ms);
    if (end === "timed_out") this.#slices.count("timed_out", now_ms);
  }
}
