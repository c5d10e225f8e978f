import { Command, CommanderError } from "commander";
import { usageError } from "../../contract/errors.js";
import { removedText } from "./removed.js";

/** A command that prints nothing by itself except its help, and never exits the process. */
export const createCommand = (name: string): Command =>
  new Command(name)
    .allowExcessArguments(false)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });

/** Parses a command's arguments; undefined after help. @throws usageError in one line */
export function parseCommandLine(command: Command, argv: readonly string[]): Command | undefined {
  try {
    return command.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    const removed = error.code === "commander.unknownOption" && argv.map(removedText).find(Boolean);
    if (removed) throw usageError(removed, { cause: error });
    const message = error.message
      .replace(/^error: /, "")
      .replaceAll("\n", " ")
      .replace(/\.$/, "");
    throw usageError(`${message}; see ${command.name()} --help`, { cause: error });
  }
}
