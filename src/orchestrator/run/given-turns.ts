import { LAST_TURN_LINE, type TurnLengths, turnLine } from "../../contract/turns.js";
import type { RunningPart } from "../../runtimes/types.js";
import { drawnCycles, type TurnOrder } from "../../traffic/turn-order.js";
import type { TurnEvent } from "./generators.js";

/** Gives turns to generators that have one target each, one after another, and never two at a time. */
export class GivenTurns {
  readonly #generators: readonly Pick<RunningPart, "write" | "exited">[];
  readonly #gone = new Set<number>();
  /** Resolves the turn that is under way. */
  #ended: (turn: TurnEvent | undefined) => void = () => {};
  #taking: number | undefined;

  constructor(generators: readonly Pick<RunningPart, "write" | "exited">[]) {
    this.#generators = generators;
    for (const [index, { exited }] of generators.entries()) exited.then(() => this.#leave(index));
  }

  /** A generator says that its turn has ended, and that nothing is in flight. */
  ended(generator: number, turn: TurnEvent): void {
    if (generator === this.#taking) this.#ended(turn);
  }

  /** @returns what each generator answered in each of its turns; one that ends gets no further turn */
  async give(order: TurnOrder): Promise<TurnEvent[][]> {
    const taken: TurnEvent[][] = this.#generators.map(() => []);
    for (const cycle of drawnCycles([...this.#generators.keys()], order))
      for (const { target, ...turn } of cycle) {
        const answers = await this.#turn(target, turn);
        if (answers) taken[target]?.push(answers);
      }
    for (const [index, generator] of this.#generators.entries())
      if (!this.#gone.has(index)) generator.write?.(LAST_TURN_LINE);
    return taken;
  }

  #turn(generator: number, turn: TurnLengths): Promise<TurnEvent | undefined> {
    if (this.#gone.has(generator)) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#taking = generator;
      this.#ended = resolve;
      this.#generators[generator]?.write?.(turnLine(turn));
    });
  }

  #leave(generator: number): void {
    this.#gone.add(generator);
    if (generator === this.#taking) this.#ended(undefined);
  }
}
