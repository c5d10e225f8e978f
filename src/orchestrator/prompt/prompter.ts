import { BenchError, EXIT, type ExitCode } from "../../contract/errors.js";

/** The user wants to see the page before. */
export const BACK = Symbol("back");
export type Back = typeof BACK;

/** The user gave up, or the system did: nothing was started. */
export class Cancelled extends BenchError {
  constructor(exitCode: ExitCode = EXIT.interrupted) {
    super("cancelled: nothing was started", exitCode);
  }
}

export interface Choice {
  value: string;
  label?: string;
  hint?: string;
  /** It is there to be seen, but cannot be taken. */
  disabled?: boolean;
}

/** How questions are asked. Each throws `Cancelled` when the user gives up. */
export interface Prompter {
  one(message: string, choices: readonly Choice[], initial: string): Promise<string | Back>;
  /** At least one of the choices, which stand in groups that can be taken whole. */
  many(
    message: string,
    groups: Readonly<Record<string, readonly Choice[]>>,
    initial: readonly string[],
  ): Promise<string[] | Back>;
  /** @param wrong what is wrong with a text, or undefined */
  text(message: string, initial: string, wrong: (text: string) => string | undefined): Promise<string | Back>;
  /** Columns that a line to show may take. */
  readonly columns: number;
  show(title: string, lines: readonly string[]): void;
  /** A command line to copy. */
  command(title: string, command: string): void;
  /** Says what is being waited for, and takes it back when that is over. */
  during<Value>(what: string, work: Promise<Value>): Promise<Value>;
}
