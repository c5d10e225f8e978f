import type { Key } from "node:readline";
import type { Readable } from "node:stream";
import { CANCEL_SYMBOL, groupMultiselect, log, multiselect, select, text } from "@clack/prompts";
import ansi from "ansi-escapes";
import { continued } from "../ui/command-text.js";
import { wrap } from "../ui/text.js";
import type { Keyboard } from "./keyboard.js";
import { BACK, type Back, Cancelled, type Choice, type Prompter } from "./prompter.js";

/** What the library writes before a line. */
const MARGIN = "│  ";

/**
 * Questions on the terminal. The library knows one way out of a question; here Esc goes back and Ctrl-C gives up,
 * so the last key decides.
 */
export class ClackPrompter implements Prompter {
  readonly #keyboard: Keyboard;

  constructor(keyboard: Keyboard) {
    this.#keyboard = keyboard;
  }

  one(message: string, choices: readonly Choice[], initial: string): Promise<string | Back> {
    return this.#ask((input) => select({ input, message, options: [...choices], initialValue: initial }));
  }

  many(
    message: string,
    groups: Readonly<Record<string, readonly Choice[]>>,
    initial: readonly string[],
  ): Promise<string[] | Back> {
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
    wrong: (given: string) => string | undefined,
  ): Promise<string | Back> {
    const validate = (given: string | undefined) => wrong(given?.trim() || initial);
    const answer = await this.#ask((input) =>
      text({ input, message, placeholder: initial, defaultValue: initial, validate }),
    );
    return answer === BACK ? BACK : answer.trim() || initial;
  }

  get columns(): number {
    // The last column stays free: a character in it makes some terminals break the line.
    return process.stdout.columns - MARGIN.length - 1;
  }

  show(title: string, lines: readonly string[]): void {
    log.message([title, ...lines.flatMap((line) => wrap(line, this.columns))]);
  }

  command(title: string, command: string): void {
    log.message(title);
    // Without a margin, which would be copied with it.
    process.stdout.write(`${continued(command, process.stdout.columns - 1).join("\n")}\n`);
  }

  async during<Value>(what: string, work: Promise<Value>): Promise<Value> {
    process.stdout.write(`${MARGIN}${what} …`);
    try {
      return await work;
    } finally {
      process.stdout.write(`\r${ansi.eraseLine}`);
    }
  }

  async #ask<Value>(
    question: (input: Readable) => Promise<Value | typeof CANCEL_SYMBOL>,
  ): Promise<Value | Back> {
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
