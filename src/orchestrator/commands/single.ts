import { EXIT, usageError } from "../../contract/errors.js";
import { parseCommandLine } from "../request/command-line.js";
import { parseSingle, singleCommand } from "../request/original.js";
import { isInteractive } from "../ui/tty.js";
import { run } from "./run.js";
import type { CliCommand } from "./types.js";

export const single: CliCommand = {
  name: "single",
  definition: singleCommand,
  async run(argv, context) {
    const command = parseCommandLine(singleCommand(), argv);
    if (!command) return EXIT.done;
    if (command.getOptionValue("interactive") === true) {
      if (argv.length > 1 || !isInteractive())
        throw usageError("--interactive asks on a terminal and takes no other flag: leave it out");
      return run.run([], context);
    }
    return (await context.campaign(parseSingle(context.env, argv, command))).exitCode;
  },
};
