import { Argument } from "commander";
import { EXIT, usageError } from "../../contract/errors.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { REMOVED } from "./removed.js";
import type { CliCommand, CliContext } from "./types.js";

const definition = ({ commands }: Pick<CliContext, "commands">) =>
  createCommand("ratelimit-bench help")
    .description("Lists the commands, or explains one.")
    .addArgument(new Argument("[command]").choices(commands.map(({ name }) => name)));

/** The command of this name. @throws usageError that says what replaced it, or suggests the nearest name */
export function findCommand(name: string, commands: readonly CliCommand[]): CliCommand {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const replacement = Object.hasOwn(REMOVED, name) ? REMOVED[name] : undefined;
  if (replacement) throw usageError(`the command ${name} was removed: ${replacement}`);
  const names = commands.map((command) => command.name);
  throw usageError(`there is no command ${JSON.stringify(name.slice(0, 60))}${didYouMean(name, names)}`);
}

/** The list of commands, one line each. */
export function overview(context: Pick<CliContext, "commands">): string {
  const width = Math.max(...context.commands.map(({ name }) => name.length));
  return [
    "Usage: ratelimit-bench COMMAND [flags]",
    "",
    "Measures rate limiters in Node.js as production meets them.",
    "",
    "Commands:",
    ...context.commands.map(
      (command) => `  ${command.name.padEnd(width)}  ${command.definition(context).description()}`,
    ),
    "",
    "ratelimit-bench help COMMAND explains one; ratelimit-bench --version shows all versions.",
  ].join("\n");
}

export const help: CliCommand = {
  name: "help",
  definition,
  async run(argv, context) {
    const [name, ...more] = argv;
    if (name === undefined) context.print(overview(context));
    else if (name.startsWith("-") || more.length > 0) parseCommandLine(definition(context), argv);
    else {
      const command = findCommand(name, context.commands).definition(context);
      command.name(`ratelimit-bench ${name}`).outputHelp();
    }
    return EXIT.done;
  },
};
