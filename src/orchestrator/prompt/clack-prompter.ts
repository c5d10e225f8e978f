import type { Key } from "node:readline";
import type { Readable } from "node:stream";
import { CANCEL_SYMBOL, groupMultiselect, log, multiselect, select, text } from "@clack/prompts";
import ansi from "ansi-escapes";
import { wrapCommand } from "../ui/command-text.js";
import { wrap } from "../ui/text.js";
import type { Keyboard } from "./keyboard.js";
import { BACK, Cancelled, type MenuOption, type Prompter } from "./prompter.js";

/** The library writes this before each line. */
const MARGIN = "│  ";

/** @clack/prompts has one way to leave a question; here Esc goes back and Ctrl-C cancels. */
export class ClackPrompter implements Prompter {
  readonly #keyboard: Keyboard;

  constructor(keyboard: Keyboard) {
    this.#keyboard = keyboard;
  }

  selectOne(message: string, options: readonly MenuOption[], initial: string): Promise<string | typeof BACK> {
    return this.#ask((input) => select({ input, message, options: [...options], initialValue: initial }));
  }

  selectMany(
    message: string,
    groups: Readonly<Record<string, readonly MenuOption[]>>,
    initial: readonly string[],
  ): Promise<string[] | typeof BACK> {
    const shared = { message, initialValues: [...initial], required: true };
    const [only, ...more] = Object.values(groups);
    if (only && more.length === 0)
      return this.#ask((input) => multiselect({ ...shared, input, options: [...only] }));
    const options = Object.fromEntries(Object.entries(groups).map(([name, all]) => [name, [...all]]));
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
    // A margin and a title for each of the three; the help, the end and the cursor below the options.
    return process.stdout.rows - 3 * 2 - this.#commandLines(command).length - options - 3;
  }

  show(title: string, lines: readonly string[]): void {
    log.message([title, ...lines.flatMap((line) => wrap(line, this.columns))]);
  }

  showCommand(title: string, command: string): void {
    log.message(title);
    // Without the margin, which would be copied too.
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
    let last: Key | undefined;
    const answer = await this.#keyboard.ask((input) => {
      input.on("keypress", (_text: string, key: Key) => {
        last = key;
      });
      return question(input);
    });
    if (answer !== CANCEL_SYMBOL) return answer as Value;
    if (last?.name === "escape") return BACK;
    throw new Cancelled();
  }
}
