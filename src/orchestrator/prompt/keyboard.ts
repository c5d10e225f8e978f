import { PassThrough, type Readable } from "node:stream";
import ansi from "ansi-escapes";
import { EXIT } from "../../contract/errors.js";
import { Cancelled } from "./prompter.js";

const CTRL_C = 0x03;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * The terminal while the menu has it. Nothing that is typed is echoed. Keys reach the question that is open; those that
 * are pressed while there is none are dropped, so that an impatient Enter answers nothing unseen.
 */
export class Keyboard {
  readonly #stdin = process.stdin;
  #question: PassThrough | undefined;
  #cancel: (reason: Cancelled) => void = () => {};
  readonly #cancelled: Promise<never>;
  #closed = false;

  constructor() {
    this.#cancelled = new Promise((_, reject) => {
      this.#cancel = reject;
    });
    this.#cancelled.catch(() => {});
    this.#stdin.setRawMode(true);
    this.#stdin.on("data", this.#take).once("end", this.#end);
    for (const signal of SIGNALS) process.on(signal, this.#signalled);
    process.once("exit", this.close);
  }

  /** Asks with the keys that are pressed from now on. */
  async ask<Value>(question: (input: Readable) => Promise<Value>): Promise<Value> {
    this.#question = new PassThrough();
    try {
      return await question(this.#question);
    } finally {
      this.#question = undefined;
    }
  }

  /** @throws Cancelled as soon as the user gives up, whether a question is open or not */
  unlessCancelled<Value>(work: Promise<Value>): Promise<Value> {
    return Promise.race([work, this.#cancelled]);
  }

  /** Leaves the terminal as it was found; also when the process ends by surprise. */
  readonly close = (): void => {
    if (this.#closed) return;
    this.#closed = true;
    process.off("exit", this.close);
    for (const signal of SIGNALS) process.off(signal, this.#signalled);
    this.#stdin.off("data", this.#take).off("end", this.#end).pause();
    try {
      this.#stdin.setRawMode(false);
      // What was being waited for may still stand on the line.
      process.stdout.write(`\r${ansi.eraseLine}${ansi.cursorShow}`);
    } catch {
      // The terminal is gone.
    }
  };

  readonly #take = (keys: Buffer): void => {
    // Open questions know Ctrl-C themselves.
    if (this.#question) this.#question.write(keys);
    else if (keys.includes(CTRL_C)) this.#cancel(new Cancelled());
  };

  readonly #end = (): void => this.#cancel(new Cancelled());

  readonly #signalled = (signal: NodeJS.Signals): void =>
    this.#cancel(new Cancelled(signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated));
}
