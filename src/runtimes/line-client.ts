import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** Writes lines to the input of a process that does not answer them; lines that come after its end are dropped. */
export function lineWriter(input: NodeJS.WritableStream): (line: string) => void {
  // A process may end before it has read a line. Its end is seen elsewhere.
  input.on("error", () => {});
  return (line) => {
    if (input.writable) input.write(`${line}\n`);
  };
}

/** Talks to a process that answers each line of its input with one line of its output. */
export class LineClient {
  readonly #input: Writable;
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  #hasEnded = false;

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    // When the process ends, its output ends too, which is handled below.
    input.on("error", () => {});
    const lines = createInterface({ input: output });
    lines.on("line", (line) => this.#waiting.shift()?.(line));
    lines.once("close", () => {
      this.#hasEnded = true;
      for (const answer of this.#waiting.splice(0)) answer(undefined);
    });
  }

  /** Sends a line. @returns the answer, or undefined when the process ended without one */
  request(line: string): Promise<string | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#input.write(`${line}\n`);
    });
  }

  end(): void {
    this.#input.end();
  }
}
