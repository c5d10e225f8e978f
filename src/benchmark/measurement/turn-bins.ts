import { TURN_BIN_EDGES_MS, type TurnBinsRecord } from "../../contract/turns.js";
import { addedUp } from "../../judge/merging/slices.js";
import { mean, rounded } from "../../kit/numbers.js";

const zeros = (): number[] => TURN_BIN_EDGES_MS.map(() => 0);

/** The end of the bin with this index in milliseconds since the turn began. The last has none. */
const endOf = (bin: number): number => TURN_BIN_EDGES_MS[bin + 1] ?? Number.POSITIVE_INFINITY;

/**
 * Counts the answers of one part of the turns, which is their lead-ins or their slices, by the time
 * since the turn began (M33).
 */
export class TurnBins {
  readonly #from_ms: number;
  #began_ms = 0;
  readonly #seconds = zeros();
  readonly #answers = zeros();
  readonly #latency_sum_us = zeros();

  /** @param from_ms time since the turn began that is in no bin, because the pipeline fills */
  constructor(from_ms: number) {
    this.#from_ms = from_ms;
  }

  /** Takes that a turn begins. @param at_ms monotonic milliseconds */
  begin(at_ms: number): void {
    this.#began_ms = at_ms;
  }

  /** Counts an answer. @param now_ms monotonic milliseconds */
  add(us: number, now_ms: number): void {
    const since_ms = now_ms - this.#began_ms;
    if (since_ms < this.#from_ms) return;

    let bin = 0;
    while (since_ms >= endOf(bin)) bin++;
    this.#answers[bin] = (this.#answers[bin] ?? 0) + 1;
    this.#latency_sum_us[bin] = (this.#latency_sum_us[bin] ?? 0) + us;
  }

  /** Adds the time of the part in the turn that has begun. Both ends are monotonic milliseconds. */
  lasted(opened_ms: number, closed_ms: number): void {
    for (const [bin, edge_ms] of TURN_BIN_EDGES_MS.entries()) {
      const from_ms = Math.max(edge_ms, this.#from_ms, opened_ms - this.#began_ms);
      const to_ms = Math.min(endOf(bin), closed_ms - this.#began_ms);
      this.#seconds[bin] = (this.#seconds[bin] ?? 0) + Math.max(0, to_ms - from_ms) / 1000;
    }
  }

  get record(): TurnBinsRecord {
    return {
      seconds: [...this.#seconds],
      answers: [...this.#answers],
      latency_sum_us: [...this.#latency_sum_us],
    };
  }
}

/** The bins of all workers of a target, whose turns took place together. */
export function mergeBins(workers: readonly TurnBinsRecord[]): TurnBinsRecord {
  const secondsOf = (bin: number) => mean(workers.map(({ seconds }) => seconds[bin] ?? 0));
  return {
    seconds: TURN_BIN_EDGES_MS.map((_, bin) => rounded(secondsOf(bin), 6)),
    answers: addedUp(workers.map(({ answers }) => answers)),
    latency_sum_us: addedUp(workers.map(({ latency_sum_us }) => latency_sum_us)),
  };
}
