import type { Command } from "commander";
import type { Environment } from "../../contract/env.js";
import type { ExitCode } from "../../contract/errors.js";
import type { CampaignEnd } from "../campaign/campaign.js";
import type { Request } from "../request/request.js";

/** What every command is given. */
export interface CliContext {
  /** Folder of the project's own package. */
  packageFolder: string;
  env: Environment;
  /** All commands, for those that tell of them. */
  commands: readonly CliCommand[];
  /** Runs a campaign that signals can end in order. */
  campaign(request: Request): Promise<CampaignEnd>;
  print(text: string): void;
}

/** A word after `ratelimit-bench`: one file in this folder, one line in its list. */
export interface CliCommand {
  name: string;
  /** Its flags and arguments as commander knows them: help and completion are made from it. */
  definition(context: Pick<CliContext, "commands">): Command;
  run(argv: readonly string[], context: CliContext): Promise<ExitCode>;
}
