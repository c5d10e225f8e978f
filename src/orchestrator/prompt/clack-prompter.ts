import type { Key } from "node:readline";
import { PassThrough, type Readable } from "node:stream";
import { CANCEL_SYMBOL, groupMultiselect, log, multiselect, select, text } from "@clack/prompts";
import ansi from "ansi-escapes";
import { EXIT } from "../../kit/errors.js";
import { wrapCommand } from "../ui/command-lines.js";
import { wrap } from "../ui/text.js";
import { BACK, Cancelled, type MenuOption, type Prompter } from "./prompter.js";

const CTRL_C = 0x03;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Reads keys for the open question, without echo. Keys pressed without an open question are dropped. */
export class Keyboard {
  readonly #stdin = process.stdin;
  #question: PassThrough | undefined;
  #cancel: (reason: Cancelled) => void = () => {};
  readonly #cancelled: Promise<never>;
  #isClosed = false;

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
    if (this.#isClosed) return;
    this.#isClosed = true;
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

/** The margin that the library writes before each line. */
const MARGIN = "│  ";

/**
 * Asks questions with @clack/prompts, which has one way to leave a question. This prompter goes back
 * on Esc and cancels on Ctrl-C.
 */
export class ClackPrompter implements Prompter {
  readonly #keyboard: Keyboard;

  constructor(keyboard: Keyboard) {
    this.#keyboard = keyboard;
  }

  selectOne(
    message: string,
    options: readonly MenuOption[],
    initial: string,
  ): Promise<string | typeof BACK> {
    return this.#ask((input) =>
      select({ input, message, options: [...options], initialValue: initial }),
    );
  }

  selectMany(
    message: string,
    groups: Readonly<Record<string, readonly MenuOption[]>>,
    initial: readonly string[],
  ): Promise<string[] | typeof BACK> {
    const shared = { message, initialValues: [...initial], required: true };
    const [firstGroup, ...otherGroups] = Object.values(groups);
    if (firstGroup && otherGroups.length === 0)
      return this.#ask((input) => multiselect({ ...shared, input, options: [...firstGroup] }));

    const options = Object.fromEntries(
      Object.entries(groups).map(([name, groupOptions]) => [name, [...groupOptions]]),
    );
    return this.#ask((input) => groupMultiselect({ ...shared, input, options }));
  }

  async text(
    message: string,
    initial: string,
    problemOf: (text: string) => string | undefined,
  ): Promise<string | typeof BACK> {
    const validate = (typed: string | undefined) => problemOf(typed?.trim() || initial);
    const answer = await this.#ask((input) =>
      text({ input, message, placeholder: initial, defaultValue: initial, validate }),
    );
    return answer === BACK ? BACK : answer.trim() || initial;
  }

  get columns(): number {
    // Some terminals break a line whose last column holds a character.
    return process.stdout.columns - MARGIN.length - 1;
  }

  linesAbove(command: string, options: number): number {
    // The plan, the command and the question have a title each, and the question a margin. The help,
    // the end and the cursor stand below the options.
    const titleLines = 3 + 1;
    const linesBelow = 3;
    const commandLines = this.#commandLines(command).length;
    return process.stdout.rows - titleLines - commandLines - options - linesBelow;
  }

  show(title: string, lines: readonly string[]): void {
    log.message([title, ...lines.flatMap((line) => wrap(line, this.columns))]);
  }

  showCommand(title: string, command: string): void {
    log.message(title, { spacing: 0 });
    // The command has no margin, which would be copied too.
    process.stdout.write(`${this.#commandLines(command).join("\n")}\n`);
  }

  #commandLines(command: string): string[] {
    return wrapCommand(command, process.stdout.columns - 1);
  }

  async showWhile<Value>(activity: string, work: Promise<Value>): Promise<Value> {
    process.stdout.write(`${MARGIN}${activity} …`);
    try {
      return await work;
    } finally {
      process.stdout.write(`\r${ansi.eraseLine}`);
    }
  }

  async #ask<Value>(
    question: (input: Readable) => Promise<Value | typeof CANCEL_SYMBOL>,
  ): Promise<Value | typeof BACK> {
    let lastKey: Key | undefined;
    const answer = await this.#keyboard.ask((input) => {
      input.on("keypress", (_text: string, key: Key) => {
        lastKey = key;
      });
      return question(input);
    });
    if (answer !== CANCEL_SYMBOL) return answer as Value;
    if (lastKey?.name === "escape") {
      // A question that was left, or a plan that is changed, would stay above the next one.
      process.stdout.write(`${ansi.cursorTo(0, 0)}${ansi.eraseDown}`);
      return BACK;
    }
    throw new Cancelled();
  }
}
