import { LAST_TURN_LINE, type TurnLengths, turnLine } from "../../contract/turns.js";
import { within } from "../../kit/deadline.js";
import type { RunningPart } from "../../runtimes/runtime-types.js";
import { drawnCycles, type TurnOrder } from "../../traffic/turn-order.js";
import type { TurnEvent } from "./run-generators.js";

/**
 * A turn that has not ended by so long after its slice never does. The others are silent meanwhile,
 * and not given up yet.
 */
const HANGS_MS = 30_000;

type TakingPart = Pick<RunningPart, "write" | "exited" | "stop">;

/**
 * Gives turns to generators that have one target each, one after another, and never two at a time.
 */
export class TurnGiver {
  readonly #generators: readonly TakingPart[];
  readonly #gone = new Set<number>();
  /** Resolves the turn that is under way. */
  #ended: (turn: TurnEvent | undefined) => void = () => {};
  #taking: number | undefined;

  constructor(generators: readonly TakingPart[]) {
    this.#generators = generators;
    for (const [index, { exited }] of generators.entries()) exited.then(() => this.#leave(index));
  }

  /** A generator said that its turn has ended. */
  ended(generator: number, turn: TurnEvent): void {
    if (generator === this.#taking) this.#ended(turn);
  }

  /**
   * @returns what each generator answered in each of its turns; one that ends, or is stopped
   *   because it hangs, gets no further turn
   */
  async give(order: TurnOrder): Promise<TurnEvent[][]> {
    const taken: TurnEvent[][] = this.#generators.map(() => []);
    for (const cycle of drawnCycles([...this.#generators.keys()], order)) {
      for (const { target, ...turn } of cycle) {
        const answers = await this.#turn(target, turn);
        if (answers) taken[target]?.push(answers);
      }
    }

    for (const [index, generator] of this.#generators.entries()) {
      if (!this.#gone.has(index)) generator.write?.(LAST_TURN_LINE);
    }
    return taken;
  }

  async #turn(generator: number, turn: TurnLengths): Promise<TurnEvent | undefined> {
    if (this.#gone.has(generator)) return undefined;
    const part = this.#generators[generator];
    const ended = new Promise<TurnEvent | undefined>((resolve) => {
      this.#taking = generator;
      this.#ended = resolve;
    });
    part?.write?.(turnLine(turn));
    try {
      return await within(ended, turn.lead_in_ms + turn.slice_ms + HANGS_MS, () => "it hangs");
    } catch {
      part?.stop().catch(() => {});
      this.#leave(generator);
      return undefined;
    }
  }

  #leave(generator: number): void {
    this.#gone.add(generator);
    if (generator === this.#taking) this.#ended(undefined);
  }
}
