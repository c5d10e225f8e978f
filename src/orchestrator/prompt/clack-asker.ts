import type { Key } from "node:readline";
import { CANCEL_SYMBOL, groupMultiselect, log, multiselect, note, select, text } from "@clack/prompts";
import { type Asker, BACK, type Back, Cancelled, type Choice } from "./asker.js";

/**
 * Questions on the terminal. The library knows one way out of a question; here Esc goes back and Ctrl-C gives up,
 * so the last key decides.
 */
export class ClackAsker implements Asker {
  #last: Key | undefined;

  constructor() {
    process.stdin.on("keypress", (_text: string, key: Key) => {
      this.#last = key;
    });
  }

  async one(message: string, choices: readonly Choice[], initial: string): Promise<string | Back> {
    return this.#answer(await select({ message, options: [...choices], initialValue: initial }));
  }

  async many(
    message: string,
    groups: Readonly<Record<string, readonly Choice[]>>,
    initial: readonly string[],
  ): Promise<string[] | Back> {
    const shared = { message, initialValues: [...initial], required: true };
    const [only, ...more] = Object.values(groups);
    if (only && more.length === 0) return this.#answer(await multiselect({ ...shared, options: [...only] }));
    const options = Object.fromEntries(Object.entries(groups).map(([name, all]) => [name, [...all]]));
    return this.#answer(await groupMultiselect({ ...shared, options }));
  }

  async text(
    message: string,
    initial: string,
    wrong: (given: string) => string | undefined,
  ): Promise<string | Back> {
    const validate = (given: string | undefined) => wrong(given?.trim() || initial);
    const answer = await text({ message, placeholder: initial, defaultValue: initial, validate });
    return this.#answer(typeof answer === "string" ? answer.trim() || initial : answer);
  }

  show(title: string, lines: readonly string[]): void {
    // A box would break lines that are wider than the terminal; a table must stay one.
    if (lines.every((line) => line.length < (process.stdout.columns ?? 80) - 8))
      note(lines.join("\n"), title);
    else log.message([title, ...lines].join("\n"));
  }

  #answer<Value>(answer: Value | typeof CANCEL_SYMBOL): Value | Back {
    if (answer !== CANCEL_SYMBOL) return answer as Value;
    if (this.#last?.name === "escape") return BACK;
    throw new Cancelled();
  }
}
