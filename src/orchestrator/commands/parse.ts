import { Command, CommanderError } from "commander";
import { usageError } from "../../contract/errors.js";

/** A command that prints nothing by itself but help, and never ends the process. */
export const quietCommand = (name: string): Command =>
  new Command(`ratelimit-bench ${name}`)
    .allowExcessArguments(false)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });

/**
 * Reads the words after a command.
 * @returns undefined when help was asked for and has been printed
 * @throws usageError in one line
 */
export function parsed(command: Command, argv: readonly string[]): Command | undefined {
  try {
    return command.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    const message = error.message
      .replace(/^error: /, "")
      .replaceAll("\n", " ")
      .replace(/\.$/, "");
    throw usageError(`${message}; see ${command.name()} --help`, { cause: error });
  }
}
