import { type GivenTurn, LAST_TURN_LINE, turnLine } from "../../../contract/turns.js";
import { within } from "../../../kit/deadline.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";
import { drawnCycles, type TurnOrder } from "../../../traffic/turn-order.js";
import type { TurnEvent } from "../run-generators.js";

/**
 * The time after a slice until which its turn must end. It is shorter than the silence after which
 * the other generators, which wait meanwhile, would be given up.
 */
const HANGS_MS = 30_000;

type TakingPart = Pick<RunningPart, "write" | "exited" | "stop">;

/** Gives turns to generators that have one target each, and never two turns at a time. */
export class TurnGiver {
  readonly #generators: readonly TakingPart[];
  /** The generators that have ended. */
  readonly #gone = new Set<number>();
  /** A function that ends the turn under way. */
  #endTurn: (turn: TurnEvent | undefined) => void = () => {};
  /** The generator whose turn is under way. */
  #current: number | undefined;

  constructor(generators: readonly TakingPart[]) {
    this.#generators = generators;
    for (const [index, { exited }] of generators.entries()) exited.then(() => this.#leave(index));
  }

  /** Takes that the turn of a generator has ended. */
  ended(generator: number, turn: TurnEvent): void {
    if (generator === this.#current) this.#endTurn(turn);
  }

  /**
   * Gives all turns of an order to generators, by default to all. A generator that ends, or is
   * stopped because it hangs, gets no further turn.
   * @returns the events of each generator, one for each of its turns
   */
  async give(
    order: TurnOrder,
    generators: readonly number[] = [...this.#generators.keys()],
  ): Promise<TurnEvent[][]> {
    const turnsByGenerator: TurnEvent[][] = this.#generators.map(() => []);
    for (const cycle of drawnCycles(generators, order)) {
      for (const { target, ...turn } of cycle) {
        const event = await this.giveTurn(target, turn);
        if (event) turnsByGenerator[target]?.push(event);
      }
    }
    return turnsByGenerator;
  }

  /** Tells the generators that the last turn of the warm-up, or of the window, is over. */
  endTurns(): void {
    for (const [index, generator] of this.#generators.entries()) {
      if (!this.#gone.has(index)) generator.write?.(LAST_TURN_LINE);
    }
  }

  /** Whether a generator has ended, so that it gets no further turn. */
  isGone(generator: number): boolean {
    return this.#gone.has(generator);
  }

  /** Gives one turn. It resolves when the turn has ended, or the generator is gone. */
  async giveTurn(generator: number, turn: GivenTurn): Promise<TurnEvent | undefined> {
    if (this.#gone.has(generator)) return undefined;
    const part = this.#generators[generator];
    const ended = new Promise<TurnEvent | undefined>((resolve) => {
      this.#current = generator;
      this.#endTurn = resolve;
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
    if (generator === this.#current) this.#endTurn(undefined);
  }
}
