import { BenchError, EXIT, type ExitCode, messageOf } from "../../kit/errors.js";
import type { SettingChoice } from "../request/setting-types.js";

/** The answer with which the user returns to the previous page. */
export const BACK = Symbol("back");

/** Says that the user or a signal cancelled the menu, so nothing was started. */
export class Cancelled extends BenchError {
  constructor(exitCode: ExitCode = EXIT.interrupted, command?: string) {
    const soFar = command === undefined ? "" : `; the command so far:\n${command}`;
    super(`cancelled: nothing was started${soFar}`, exitCode);
  }
}

export interface MenuOption extends SettingChoice {
  /** Whether the option is shown but cannot be selected. */
  disabled?: boolean;
}

/** Asks questions on the terminal. Each question throws `Cancelled` if the user cancels. */
export interface Prompter {
  selectOne(
    message: string,
    options: readonly MenuOption[],
    initial: string,
  ): Promise<string | typeof BACK>;
  /** Asks for at least one of the options. A group can be selected as a whole. */
  selectMany(
    message: string,
    groups: Readonly<Record<string, readonly MenuOption[]>>,
    initial: readonly string[],
  ): Promise<string[] | typeof BACK>;
  text(
    message: string,
    initial: string,
    problemOf: (text: string) => string | undefined,
  ): Promise<string | typeof BACK>;
  readonly columns: number;
  /**
   * How many lines fit above the command and a question with so many options, so that `show` keeps
   * them in sight.
   */
  linesAbove(command: string, options: number): number;
  show(title: string, lines: readonly string[]): void;
  showCommand(title: string, command: string): void;
  showWhile<Value>(activity: string, work: Promise<Value>): Promise<Value>;
}

/**
 * Checks an answer by the parser that reads it in the end. The check gives the parser's error, or
 * undefined for a valid answer.
 */
export const problemFrom =
  (parse: (answer: string) => unknown) =>
  (answer: string): string | undefined => {
    try {
      parse(answer);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
