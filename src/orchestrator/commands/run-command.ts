import { EXIT, usageError } from "../../kit/errors.js";
import { checks } from "../audit/checks/index.js";
import { requestFrom } from "../prompt/index.js";
import { campaignCommand } from "../request/flags.js";
import { parseSingle, singleCommand } from "../request/original.js";
import { isInteractive } from "../ui/tty.js";
import { checkPromises } from "./audit-command.js";
import { type CliCommand, parsedCommand } from "./command-types.js";

export const run: CliCommand = {
  name: "run",
  definition: () => campaignCommand(),
  async run(argv, { env, campaign, audit, print, packageFolder }) {
    const request = await requestFrom(argv, env, packageFolder);
    if (!request) return EXIT.done;
    if (request.start.audit)
      return checkPromises(request, checks, audit, { format: "table", print });
    return (await campaign(request)).exitCode;
  },
};

export const single = parsedCommand("single", singleCommand, async (command, context, argv) => {
  if (command.getOptionValue("interactive") === true) {
    if (argv.length > 1 || !isInteractive())
      throw usageError("--interactive asks on a terminal and takes no other flag: leave it out");
    return run.run([], context);
  }
  return (await context.campaign(parseSingle(context.env, argv, command))).exitCode;
});
