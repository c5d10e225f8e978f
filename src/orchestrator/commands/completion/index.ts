import { Argument } from "commander";
import { EXIT, type ExitCode } from "../../../contract/errors.js";
import { createCommand, parseCommandLine } from "../../request/command-line.js";
import type { CliCommand } from "../types.js";
import { bashScript } from "./bash.js";
import { completionOf } from "./words.js";
import { zshScript } from "./zsh.js";

const shells = { bash: bashScript, zsh: zshScript } as const;
type Shell = keyof typeof shells;

const EXAMPLES = `
  source <(ratelimit-bench completion bash)      in ~/.bashrc
  source <(ratelimit-bench completion zsh)       in ~/.zshrc, after compinit`;

const definition = () =>
  createCommand("ratelimit-bench completion")
    .description("Prints a script that completes commands, flags and values in bash or zsh.")
    .addArgument(new Argument("<shell>").choices(Object.keys(shells)))
    .addHelpText("after", EXAMPLES);

export const completion: CliCommand = {
  name: "completion",
  definition,
  async run(argv, { commands, print }): Promise<ExitCode> {
    const command = parseCommandLine(definition(), argv);
    if (command) print(shells[command.args[0] as Shell](completionOf(commands)));
    return EXIT.done;
  },
};
