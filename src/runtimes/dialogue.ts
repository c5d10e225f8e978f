import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** A conversation with a process: it answers each line of its input with one line of its output. */
export class Dialogue {
  readonly #input: Writable;
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  #over = false;

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    // It ended: its output ends too, which is what tells.
    input.on("error", () => {});
    const lines = createInterface({ input: output });
    lines.on("line", (line) => this.#waiting.shift()?.(line));
    lines.once("close", () => {
      this.#over = true;
      for (const answer of this.#waiting.splice(0)) answer(undefined);
    });
  }

  /** @returns undefined when it ended without an answer */
  ask(line: string): Promise<string | undefined> {
    if (this.#over) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#input.write(`${line}\n`);
    });
  }

  /** Nothing more is asked. */
  end(): void {
    this.#input.end();
  }
}
