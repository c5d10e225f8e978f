import type { Command } from "commander";
import type { Environment } from "../../kit/env.js";
import { EXIT, type ExitCode } from "../../kit/errors.js";
import type { ApiRequest } from "../audit/api/run-api-audit.js";
import type { Check } from "../audit/check.js";
import type { CampaignEnd } from "../campaign/campaign.js";
import { parseCommandLine } from "../request/command-line.js";
import type { Request } from "../request/request.js";

export interface CliContext {
  packageFolder: string;
  env: Environment;
  commands: readonly CliCommand[];
  campaign(request: Request): Promise<CampaignEnd>;
  audit(request: Request, checks: readonly Check[]): Promise<CampaignEnd>;
  apiAudit(request: ApiRequest): Promise<CampaignEnd>;
  print(text: string): void;
}

/** A command of `ratelimit-bench`. Each is one file or folder here and one entry in `index.ts`. */
export interface CliCommand {
  name: string;
  /** Flags and arguments for commander. Help and completion are generated from them. */
  definition(context: Pick<CliContext, "commands">): Command;
  run(argv: readonly string[], context: CliContext): Promise<ExitCode>;
}

/**
 * A command that runs with its parsed flags and arguments; after its help nothing is left to do.
 */
export const parsedCommand = (
  name: string,
  definition: CliCommand["definition"],
  run: (command: Command, context: CliContext, argv: readonly string[]) => Promise<ExitCode>,
): CliCommand => ({
  name,
  definition,
  async run(argv, context) {
    const command = parseCommandLine(definition(context), argv);
    return command ? run(command, context, argv) : EXIT.done;
  },
});
