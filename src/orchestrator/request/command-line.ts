import { Command, CommanderError } from "commander";
import { usageError } from "../../kit/errors.js";

/** The replacements of commands and flags (with their dashes) that earlier versions had. */
const REMOVED: Readonly<Record<string, string>> = {
  claims:
    "ratelimit-bench run --config claims/NAME.yaml measures a claim, and python3 report claims, in a checkout, writes results/claims.md and results/questions.md",
  "plan-capacity":
    "measure with run --servers 1,2,4 and read the report's table of several servers (servers.csv)",
  "--no-reference": "a single target is measured alone; --reference auto adds a reference",
  noise: "doctor --seconds 60 measures which differences this machine can show",
};

/** One line on a command or flag that was removed; undefined for any other word. */
export function removedText(word: string): string | undefined {
  const name = word.split("=", 1)[0] ?? word;
  return Object.hasOwn(REMOVED, name) ? `${name} was removed: ${REMOVED[name]}` : undefined;
}

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
