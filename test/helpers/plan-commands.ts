import { BenchError, EXIT, messageOf } from "../../src/kit/errors.js";
import type { CliContext } from "../../src/orchestrator/commands/command-types.js";
import { findCommand } from "../../src/orchestrator/commands/help-command.js";
import { commands } from "../../src/orchestrator/commands/index.js";
import { parseCommandLine } from "../../src/orchestrator/request/command-line.js";

/** A command line of `ratelimit-bench` with its variables. */
export interface Invocation {
  words: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** How planning a command ended. */
export interface PlannedCommand {
  words: readonly string[];
  code: number;
  /** Why it cannot run. */
  message?: string;
}

/** The commands that have a dry run. The flags of all others are read, and nothing is done. */
const WITH_DRY_RUN = ["run", "audit", "memory"];

function refuseAudit(): never {
  throw new Error("an audit was started");
}

async function codeOf(
  { words, env }: Invocation,
  packageFolder: string,
  plan: CliContext["campaign"],
): Promise<number> {
  const [name = "", ...argv] = words;
  const command = findCommand(name, commands);
  const context: CliContext = {
    packageFolder,
    env,
    commands,
    campaign: plan,
    audit: refuseAudit,
    apiAudit: refuseAudit,
    print: () => {},
  };
  // A single run has no flags; the variables say what is measured.
  if (name === "single") return command.run(argv, context);
  // A campaign that is continued has its plan already.
  if (argv.includes("--resume")) return command.run(argv, context);
  if (WITH_DRY_RUN.includes(name)) return command.run([...argv, "--dry-run"], context);
  parseCommandLine(command.definition(context), argv);
  return EXIT.done;
}

/**
 * Plans a command in this process and its working folder, and starts nothing.
 * @param plan plans a campaign
 */
export async function planCommand(
  invocation: Invocation,
  packageFolder: string,
  plan: CliContext["campaign"],
): Promise<PlannedCommand> {
  const { words } = invocation;
  try {
    return { words, code: await codeOf(invocation, packageFolder, plan) };
  } catch (error) {
    const code = error instanceof BenchError ? error.exitCode : EXIT.defect;
    return { words, code, message: messageOf(error) };
  }
}
