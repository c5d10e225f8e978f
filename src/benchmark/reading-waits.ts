import { createInterface, type Interface } from "node:readline";
import type { Readable } from "node:stream";
import {
  ALL_STEADY_LINE,
  type AnnouncedPhase,
  type Progress,
  READ_LINE,
  type TurnPhase,
} from "../contract/progress.js";
import { type GivenTurn, LAST_TURN_LINE, turnOf } from "../contract/turns.js";
import { definedOnly } from "../kit/defined-only.js";
import { BenchError, EXIT } from "../kit/errors.js";

/**
 * Waits at each drained moment until the input says that the counters are read. Nothing is sent
 * earlier.
 */
export class ReadingWaits {
  readonly #report: (progress: Progress) => void;
  readonly #input: Readable;
  readonly #lines: Interface;
  #announced = 0;
  #read = 0;
  #hasEnded = false;
  #timesSteady = 0;
  readonly #turns: (GivenTurn | typeof LAST_TURN_LINE)[] = [];
  #check: () => void = () => {};

  constructor(report: (progress: Progress) => void, input: Readable) {
    this.#report = report;
    this.#input = input;
    this.#lines = createInterface({ input });
    this.#lines.on("line", (line) => {
      if (line.trim() === READ_LINE) this.#read++;
      if (line.trim() === ALL_STEADY_LINE) this.#timesSteady++;
      const turn = line.trim() === LAST_TURN_LINE ? LAST_TURN_LINE : turnOf(line);
      if (turn) this.#turns.push(turn);
      this.#check();
    });
    const end = () => {
      this.#hasEnded = true;
      this.#check();
    };
    input.on("error", end);
    this.#lines.on("error", end);
    this.#lines.on("close", end);
  }

  /** How often the input said that a part of the warm-up of all generators may end. */
  get timesSteady(): number {
    return this.#timesSteady;
  }

  /** @param run the index of the run whose turn begins or has ended */
  async at(phase: AnnouncedPhase | TurnPhase, run?: number): Promise<void> {
    const number = ++this.#announced;
    this.#report({ event: "phase", phase, ...definedOnly({ run }) });
    await this.#until(() => this.#read >= number, `at the moment ${phase}`);
  }

  /**
   * The turns that the input gives, up to its line after the last one.
   * @throws BenchError when the input closes before that line
   */
  async *turns(): AsyncGenerator<GivenTurn> {
    for (;;) {
      await this.#until(() => this.#turns.length > 0, "between turns");
      const turn = this.#turns.shift();
      if (turn === undefined || turn === LAST_TURN_LINE) return;
      yield turn;
    }
  }

  async #until(hasCome: () => boolean, when: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#check = () => {
        if (hasCome()) return resolve();
        const text = `the standard input ended ${when}: whoever reads the counters is gone`;
        if (this.#hasEnded) reject(new BenchError(text, EXIT.configurationFailed));
      };
      this.#check();
    });
    this.#check = () => {};
  }

  /** An input that is still open would keep the process alive. */
  close(): void {
    this.#lines.close();
    this.#input.destroy();
  }
}
