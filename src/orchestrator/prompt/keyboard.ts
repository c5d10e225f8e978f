import { PassThrough, type Readable } from "node:stream";
import ansi from "ansi-escapes";
import { EXIT } from "../../contract/errors.js";
import { Cancelled } from "./prompter.js";

const CTRL_C = 0x03;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Reads keys for the open question, without echo; those pressed while none is open are dropped. */
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

  async ask<Value>(question: (input: Readable) => Promise<Value>): Promise<Value> {
    this.#question = new PassThrough();
    try {
      return await question(this.#question);
    } finally {
      this.#question = undefined;
    }
  }

  unlessCancelled<Value>(work: Promise<Value>): Promise<Value> {
    return Promise.race([work, this.#cancelled]);
  }

  /** Restores the terminal, also when the process exits unexpectedly. */
  readonly close = (): void => {
    if (this.#closed) return;
    this.#closed = true;
    process.off("exit", this.close);
    for (const signal of SIGNALS) process.off(signal, this.#signalled);
    this.#stdin.off("data", this.#take).off("end", this.#end).pause();
    try {
      this.#stdin.setRawMode(false);
      // The line may still show what the menu waited for.
      process.stdout.write(`\r${ansi.eraseLine}${ansi.cursorShow}`);
    } catch {
      // The terminal is gone.
    }
  };

  readonly #take = (keys: Buffer): void => {
    // An open question handles Ctrl-C itself.
    if (this.#question) this.#question.write(keys);
    else if (keys.includes(CTRL_C)) this.#cancel(new Cancelled());
  };

  readonly #end = (): void => this.#cancel(new Cancelled());

  readonly #signalled = (signal: NodeJS.Signals): void =>
    this.#cancel(new Cancelled(signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated));
}
