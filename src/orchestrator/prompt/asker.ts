import { BenchError, EXIT } from "../../contract/errors.js";

/** The user wants to see the page before. */
export const BACK = Symbol("back");
export type Back = typeof BACK;

/** The user gave up: nothing was started. */
export class Cancelled extends BenchError {
  constructor() {
    super("cancelled: nothing was started", EXIT.interrupted);
  }
}

export interface Choice {
  value: string;
  label?: string;
  hint?: string;
}

/** How questions are asked. Each throws `Cancelled` when the user gives up. */
export interface Asker {
  one(message: string, choices: readonly Choice[], initial: string): Promise<string | Back>;
  /** At least one of the choices, which stand in groups that can be taken whole. */
  many(
    message: string,
    groups: Readonly<Record<string, readonly Choice[]>>,
    initial: readonly string[],
  ): Promise<string[] | Back>;
  /** @param wrong what is wrong with a text, or undefined */
  text(message: string, initial: string, wrong: (text: string) => string | undefined): Promise<string | Back>;
  show(title: string, lines: readonly string[]): void;
}
