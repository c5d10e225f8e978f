import type { Counts, EncodedHistogram, Outcome } from "../../contract/result.js";
import { cheapMonotonicMs } from "./clock.js";
import { encodeByOutcome, histogramsByOutcome } from "./histograms.js";

/** Length of a sample's interval. */
export const SAMPLE_MS = 1000;

/** One interval of a worker's window. */
export interface WorkerSample {
  /** End of the interval, monotonic milliseconds. */
  at_ms: number;
  allowed: number;
  limited: number;
  failed: number;
  /** Microseconds, one for each allowed or limited answer, in order of arrival. */
  latencies_us: Uint32Array<ArrayBuffer>;
  /** 0 to 1, of the worker's event loop in this interval; set by the worker thread. */
  event_loop_utilisation?: number;
}

/**
 * The latencies of one interval. Appending costs almost nothing, and the main thread gets the plain numbers: encoding
 * a histogram once a second would block the worker for some milliseconds, in which it sends and reads nothing. The
 * buffer is copied, not transferred: the first transfer in a thread makes V8 discard its compiled code for typed
 * arrays, which is all the code that reads and records here.
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

  /** Returns all values and empties the buffer. */
  take(): Uint32Array<ArrayBuffer> {
    const taken = this.#values.slice(0, this.#count);
    this.#count = 0;
    return taken;
  }
}

const zeroCounts = () => ({ allowed: 0, limited: 0, failed: 0 });

/** Records the answers of one worker's window: latency histograms by outcome, counts, and one sample a second. */
export class ResponseRecorder {
  readonly #histograms = histogramsByOutcome();
  readonly #codeText: (code: number) => string;
  readonly #byCode = new Uint32Array(1000);
  readonly #counts: Record<Outcome, number> = zeroCounts();
  readonly #buffer = new SampleBuffer();
  #interval = zeroCounts();

  /** @param codeText the text of a code in `counts.by_code` */
  constructor(codeText: (code: number) => string) {
    this.#codeText = codeText;
  }

  /**
   * @param code the driver's, below 1000
   * @param ms latency in milliseconds, with fractions
   */
  answer(outcome: Outcome, code: number, ms: number): void {
    // At least 1: 0 would mean "no latency".
    const us = Math.max(1, Math.round(ms * 1000));
    this.#byCode[code] = (this.#byCode[code] ?? 0) + 1;
    this.#counts[outcome]++;
    this.#histograms[outcome].record(us);
    this.#interval[outcome]++;
    if (outcome !== "failed") this.#buffer.push(us);
  }

  /** Counts requests that got no answer. */
  loss(count: number): void {
    this.#interval.failed += count;
  }

  /** Ends the current interval. @param at_ms monotonic milliseconds */
  sample(at_ms: number): WorkerSample {
    const sample = { at_ms, ...this.#interval, latencies_us: this.#buffer.take() };
    this.#interval = zeroCounts();
    return sample;
  }

  counts(rest: Pick<Counts, "sent" | "connection_errors" | "timed_out" | "cut">): Counts {
    const byCode: Record<string, number> = {};
    this.#byCode.forEach((count, code) => {
      if (count > 0) byCode[this.#codeText(code)] = count;
    });
    const { allowed, limited, failed } = this.#counts;
    return { ...rest, allowed, limited, failed_answers: failed, by_code: byCode };
  }

  histograms(): Record<Outcome, EncodedHistogram> {
    return encodeByOutcome(this.#histograms);
  }
}

/**
 * Samples the recorder of a warm-up, whose figures are discarded, so that V8 compiles this code before the window opens
 * and not in it, on the CPUs that are measured.
 * @returns stops the sampling
 */
export function prewarmSampling(recorder: { sample(at_ms: number): WorkerSample }): () => void {
  const sampler = setInterval(() => recorder.sample(cheapMonotonicMs()), SAMPLE_MS);
  return () => clearInterval(sampler);
}
