import type { Histogram } from "hdr-histogram-js";
import type { Counts, EncodedHistogram, Outcome } from "../contract/result.js";
import { createHistogram, encodeHistogram } from "../judge/histogram.js";
import { outcomeOf } from "./drivers/http.js";

/** One interval of a worker's window. */
export interface WorkerSample {
  /** End of the interval, monotonic milliseconds. */
  at_ms: number;
  allowed: number;
  limited: number;
  failed: number;
  answered: EncodedHistogram;
  /** 0 to 1, of the worker's thread in this interval; the thread adds it. */
  event_loop_utilisation?: number;
}

const noCounts = () => ({ allowed: 0, limited: 0, failed: 0 });

/** Records the answers of one worker's window: latency in microseconds an outcome, counts, one sample a second. */
export class Recorder {
  readonly #histograms: Record<Outcome, Histogram> = {
    allowed: createHistogram(),
    limited: createHistogram(),
    failed: createHistogram(),
  };
  readonly #byStatus = new Uint32Array(1000);
  readonly #counts: Record<Outcome, number> = noCounts();
  #interval = { ...noCounts(), answered: createHistogram() };

  /** @param ms latency in milliseconds, with fractions */
  answer(status: number, ms: number): void {
    const outcome = outcomeOf(status);
    // An answer within half a microsecond is still an answer: 0 would read as "no latency".
    const us = Math.max(1, Math.round(ms * 1000));
    this.#byStatus[status] = (this.#byStatus[status] ?? 0) + 1;
    this.#counts[outcome]++;
    this.#histograms[outcome].recordValue(us);
    this.#interval[outcome]++;
    if (outcome !== "failed") this.#interval.answered.recordValue(us);
  }

  /** A request that got no answer. */
  loss(count: number): void {
    this.#interval.failed += count;
  }

  /** Ends the interval that is under way. @param at_ms monotonic milliseconds */
  sample(at_ms: number): WorkerSample {
    const { answered, ...counts } = this.#interval;
    const sample = { at_ms, ...counts, answered: encodeHistogram(answered) };
    answered.reset();
    this.#interval = { ...noCounts(), answered };
    return sample;
  }

  counts(rest: Pick<Counts, "sent" | "connection_errors" | "timed_out" | "cut">): Counts {
    const byStatus: Record<string, number> = {};
    this.#byStatus.forEach((count, status) => {
      if (count > 0) byStatus[String(status).padStart(3, "0")] = count;
    });
    const { allowed, limited, failed } = this.#counts;
    return { ...rest, allowed, limited, failed_answers: failed, by_status: byStatus };
  }

  histograms(): Record<Outcome, EncodedHistogram> {
    return encodeOutcomes(this.#histograms);
  }
}

export function encodeOutcomes(histograms: Record<Outcome, Histogram>): Record<Outcome, EncodedHistogram> {
  return {
    allowed: encodeHistogram(histograms.allowed),
    limited: encodeHistogram(histograms.limited),
    failed: encodeHistogram(histograms.failed),
  };
}
