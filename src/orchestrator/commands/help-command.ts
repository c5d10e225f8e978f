import { Argument } from "commander";
import { CAMPAIGN_COMMAND, HELP_COMMAND } from "../../kit/command-text.js";
import { EXIT, usageError } from "../../kit/errors.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { createCommand, parseCommandLine, removedText } from "../request/command-line.js";
import { campaignHelp, topics } from "../request/flag-help.js";
import type { CliCommand, CliContext } from "./command-types.js";

const definition = ({ commands }: Pick<CliContext, "commands">) =>
  createCommand("ratelimit-bench help")
    .description("Lists the commands, or explains one, or a topic of run.")
    .addArgument(
      new Argument("[command]").choices([...commands.map(({ name }) => name), ...topics]),
    );

/**
 * The command of this name. @throws usageError that says what replaced it, or suggests the nearest
 * name
 */
export function findCommand(name: string, commands: readonly CliCommand[]): CliCommand {
  const namedCommand = commands.find((command) => command.name === name);
  if (namedCommand) return namedCommand;
  const removed = removedText(name);
  if (removed) throw usageError(removed);
  const names = commands.map((command) => command.name);
  throw usageError(
    `there is no command ${JSON.stringify(name.slice(0, 60))}${didYouMean(name, names)}`,
  );
}

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
    `ratelimit-bench help TOPIC lists flags of run: ${topics.join(", ")}.`,
  ].join("\n");
}

export const help: CliCommand = {
  name: "help",
  definition,
  async run(argv, context) {
    const [name, ...more] = argv;
    if (name === undefined) context.print(overview(context));
    else if (name.startsWith("-") || more.length > 0) parseCommandLine(definition(context), argv);
    else if (topics.includes(name))
      context.print(campaignHelp(CAMPAIGN_COMMAND, HELP_COMMAND, name).trimEnd());
    else {
      const command = findCommand(name, context.commands).definition(context);
      command.name(`ratelimit-bench ${name}`).outputHelp();
    }
    return EXIT.done;
  },
};
