import type { Outcome } from "../../contract/request-outcomes.js";
import { ADMITTED, LIMITED, UNDECIDED } from "../../judge/boundary/algorithms.js";
import { cheapMonotonicMs } from "./clock.js";

/**
 * Counts how often a worker sent each distinct request since its start, and how often nobody knows
 * what became of it (M27).
 */
export class RequestCounter {
  readonly sent: Uint32Array<ArrayBuffer>;
  readonly undecided: Uint32Array<ArrayBuffer>;

  constructor(requests: number) {
    this.sent = new Uint32Array(requests);
    this.undecided = new Uint32Array(requests);
  }

  connection(): ConnectionCounts {
    let request = 0;
    const { sent, undecided } = this;
    return {
      sent(which) {
        request = which;
        sent[which] = (sent[which] ?? 0) + 1;
      },
      undecided() {
        undecided[request] = (undecided[request] ?? 0) + 1;
      },
    };
  }
}

export interface ConnectionCounts {
  sent(which: number): void;
  /** Says that the last request has no decision, or a failed one. */
  undecided(): void;
}

/** The requests that a worker sent, column by column. Times are monotonic milliseconds. */
export interface DecisionColumns {
  which: Uint16Array<ArrayBuffer>;
  sent_ms: Float64Array<ArrayBuffer>;
  /** Infinite where nobody knows the decision. */
  answered_ms: Float64Array<ArrayBuffer>;
  outcome: Uint8Array<ArrayBuffer>;
  /** The wait that a limited answer named. It is NaN where it named none. */
  wait_ms: Float32Array<ArrayBuffer>;
  /** Requests for which there was no room. */
  missed: number;
}

/** Logs the requests of one connection, of which one at most is in flight. */
export interface ConnectionLog {
  /**
   * Is called right before the request leaves.
   * @param which index of the request
   */
  sent(which: number): void;
  /**
   * Records an answer. It is called right after the answer came.
   * @param wait_ms NaN where the answer named no wait
   */
  answered(outcome: Exclude<Outcome, "failed">, wait_ms: number): void;
}

const codes = { allowed: ADMITTED, limited: LIMITED } as const;

/** Keeps every request of a worker from the warm-up on (M27), in memory of a fixed size. */
export class DecisionLog {
  readonly #columns: Omit<DecisionColumns, "missed">;
  #count = 0;
  #missed = 0;

  constructor(capacity: number) {
    this.#columns = {
      which: new Uint16Array(capacity),
      sent_ms: new Float64Array(capacity),
      answered_ms: new Float64Array(capacity).fill(Number.POSITIVE_INFINITY),
      outcome: new Uint8Array(capacity).fill(UNDECIDED),
      wait_ms: new Float32Array(capacity).fill(Number.NaN),
    };
  }

  connection(): ConnectionLog {
    let row = -1;
    const {
      which: requests,
      sent_ms,
      answered_ms,
      outcome: outcomes,
      wait_ms: waits,
    } = this.#columns;
    return {
      sent: (which) => {
        row = this.#newRow();
        if (row < 0) return;
        requests[row] = which;
        sent_ms[row] = cheapMonotonicMs();
      },
      answered: (outcome, wait_ms) => {
        if (row < 0) return;
        answered_ms[row] = cheapMonotonicMs();
        outcomes[row] = codes[outcome];
        waits[row] = wait_ms;
      },
    };
  }

  columns(): DecisionColumns {
    const { which, sent_ms, answered_ms, outcome, wait_ms } = this.#columns;
    const count = this.#count;
    return {
      which: which.slice(0, count),
      sent_ms: sent_ms.slice(0, count),
      answered_ms: answered_ms.slice(0, count),
      outcome: outcome.slice(0, count),
      wait_ms: wait_ms.slice(0, count),
      missed: this.#missed,
    };
  }

  #newRow(): number {
    if (this.#count < this.#columns.which.length) return this.#count++;
    this.#missed++;
    return -1;
  }
}
