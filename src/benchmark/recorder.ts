import type { Counts, EncodedHistogram, Outcome } from "../contract/result.js";
import { steadyMs } from "./clock.js";
import { outcomeOf } from "./drivers/http.js";
import { Tally } from "./tally.js";

/** Length of an interval. */
export const SAMPLE_MS = 1000;

/** One interval of a worker's window. */
export interface WorkerSample {
  /** End of the interval, monotonic milliseconds. */
  at_ms: number;
  allowed: number;
  limited: number;
  failed: number;
  /** Microseconds, one each allowed or limited answer, as they came. */
  latencies_us: Uint32Array<ArrayBuffer>;
  /** 0 to 1, of the worker's thread in this interval; the thread adds it. */
  event_loop_utilisation?: number;
}

/**
 * Numbers of one interval. Writing them down costs the worker next to nothing, and they are handed over as they are: a
 * histogram would have to be encoded once a second, some milliseconds in which nothing is sent and nothing read. They
 * are copied, not transferred: the first buffer that a thread gives away makes V8 throw away what it has compiled for
 * typed arrays, which is all that reads and records here.
 */
class Tape {
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

  /** All of them; the tape is empty then. */
  take(): Uint32Array<ArrayBuffer> {
    const taken = this.#values.slice(0, this.#count);
    this.#count = 0;
    return taken;
  }
}

const noCounts = () => ({ allowed: 0, limited: 0, failed: 0 });

/** Records the answers of one worker's window: latency in microseconds an outcome, counts, one sample a second. */
export class Recorder {
  readonly #tallies = talliesByOutcome();
  readonly #byStatus = new Uint32Array(1000);
  readonly #counts: Record<Outcome, number> = noCounts();
  readonly #tape = new Tape();
  #interval = noCounts();

  /** @param ms latency in milliseconds, with fractions */
  answer(status: number, ms: number): void {
    const outcome = outcomeOf(status);
    // An answer within half a microsecond is still an answer: 0 would read as "no latency".
    const us = Math.max(1, Math.round(ms * 1000));
    this.#byStatus[status] = (this.#byStatus[status] ?? 0) + 1;
    this.#counts[outcome]++;
    this.#tallies[outcome].record(us);
    this.#interval[outcome]++;
    if (outcome !== "failed") this.#tape.push(us);
  }

  /** A request that got no answer. */
  loss(count: number): void {
    this.#interval.failed += count;
  }

  /** Ends the interval that is under way. @param at_ms monotonic milliseconds */
  sample(at_ms: number): WorkerSample {
    const sample = { at_ms, ...this.#interval, latencies_us: this.#tape.take() };
    this.#interval = noCounts();
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
    return encodeOutcomes(this.#tallies);
  }
}

/**
 * Samples a recorder of the warm-up, whose figures are thrown away: what first runs in the window would be compiled
 * there, on the CPUs that are measured.
 * @returns ends it
 */
export function rehearse(recorder: { sample(at_ms: number): WorkerSample }): () => void {
  const sampler = setInterval(() => recorder.sample(steadyMs()), SAMPLE_MS);
  return () => clearInterval(sampler);
}

export const talliesByOutcome = (): Record<Outcome, Tally> => ({
  allowed: new Tally(),
  limited: new Tally(),
  failed: new Tally(),
});

export function encodeOutcomes(tallies: Record<Outcome, Tally>): Record<Outcome, EncodedHistogram> {
  return {
    allowed: tallies.allowed.encoded(),
    limited: tallies.limited.encoded(),
    failed: tallies.failed.encoded(),
  };
}
