import { type PlannedRun, roundOf } from "../../contract/plan.js";
import type { RoundsTimeLimit } from "../request/request.js";
import type { RunSelection } from "./rounds.js";

/**
 * Makes the rounds that fit into a time. The longest round so far says how long the next one may
 * take, because an estimate knows nothing of this machine's load.
 */
export class TimedRounds implements RunSelection {
  readonly #limit: RoundsTimeLimit;
  readonly #now_ms: () => number;
  #round = 0;
  #began_ms = 0;
  #longest_ms = 0;
  #isOver = false;

  /** @param now_ms the monotonic clock */
  constructor(limit: RoundsTimeLimit, now_ms = (): number => performance.now()) {
    this.#limit = limit;
    this.#now_ms = now_ms;
  }

  async isNeeded(planned: PlannedRun): Promise<boolean> {
    const round = roundOf(planned);
    if (round !== this.#round && !this.#isOver) this.#startRound(round);
    return !this.#isOver;
  }

  async finished(): Promise<void> {}

  async end(): Promise<void> {}

  #startRound(round: number): void {
    const now_ms = this.#now_ms();
    if (this.#round > 0) this.#longest_ms = Math.max(this.#longest_ms, now_ms - this.#began_ms);
    this.#round = round;
    this.#began_ms = now_ms;
    const { end_ms, fewest } = this.#limit;
    this.#isOver = round > fewest && now_ms + this.#longest_ms > end_ms;
  }
}
