import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Argument, type Command, Option } from "commander";
import { EXIT, type ExitCode, usageError } from "../../../contract/errors.js";
import { runPython } from "../../host/python.js";
import { createCommand, parseCommandLine } from "../../request/command-line.js";
import { settingOf } from "../../request/settings.js";
import type { CliCommand, CliContext } from "../types.js";
import { claimList } from "./list.js";
import { measureCampaigns } from "./measure.js";
import { unpackCampaigns } from "./measured.js";
import { campaignsOf, chosenClaims, type Register, readRegister } from "./register.js";
import { writeRegister } from "./register-document.js";

const ACTIONS = ["list", "run", "report"] as const;
type Action = (typeof ACTIONS)[number];

/** Folder of what was measured for claims, in the results root. */
const CLAIMS = "claims";

/** Settings of a campaign that `claims run` passes on; they override those of the campaigns' files. */
const SETTINGS = [
  "runtime",
  "runs",
  "duration-mode",
  "warmup",
  "cooldown",
  "seed",
  "program",
  "image",
  "valkey-server",
  "redis-server",
  "progress",
  "quiet",
  "verbose",
  "allow-parallel",
  "dry-run",
];

const AFTER = `
Each claim is a file of claims/: who says it, how it was measured there, our campaign for it, and what would refute it.

  list    every claim with its verdict; the default
  run     measures the campaigns of these claims, of all without an id, then builds the report
  report  builds the page, the Markdown and the verdicts again

Results are in OUTPUT/claims/: a folder for each campaign, and report/ with index.html, claims.md and verdicts.json; in a
checkout the Markdown is docs/claims.md. What is measured is kept, and a campaign that was interrupted is continued.
docs/claims-register.md says how to add a claim.

Examples:
  ratelimit-bench claims
  ratelimit-bench claims run node-redis-equals-ioredis
  ratelimit-bench claims run --runtime docker --dry-run

Exit codes: 0 done, 2 bad usage or a claim that is none, 3 environment not fit, 4 a campaign could not be measured,
            5 some runs are invalid, 130 interrupted; no verdict is a failure`;

function definition(): Command {
  const command = createCommand("ratelimit-bench claims")
    .description("Measures published claims again, and says which of them hold.")
    .addArgument(new Argument("[action]", "what to do (default: list)").choices([...ACTIONS]))
    .addArgument(new Argument("[claim...]", "ids of claims (default: all)"))
    .addOption(new Option("--claims <dir>", "folder of the claims (default: those of this program)"))
    .addOption(new Option("--output <dir>", `results root (default: ${settingOf("output").defaultValue})`))
    .addOption(new Option("--format <format>", "of list (default: table)").choices(["table", "json"]))
    .addOption(new Option("--again", "run: also measure campaigns that are complete"));
  for (const key of SETTINGS) {
    const { value, help, repeatable } = settingOf(key);
    const option = new Option(value ? `--${key} ${value}` : `--${key}`, `run: ${help}`);
    command.addOption(repeatable ? option.argParser(joined) : option);
  }
  return command.addHelpText("after", AFTER);
}

const joined = (text: string, before?: string): string => (before === undefined ? text : `${before},${text}`);

/** The flags of `claims run` for a campaign, as words. */
function settingFlags(command: Command): string[] {
  return SETTINGS.flatMap((key) => {
    const given: unknown = command.getOptionValue(attributeOf(key));
    if (given === undefined) return [];
    return given === true ? [`--${key}`] : [`--${key}`, String(given)];
  });
}

/** @throws usageError for a flag that the action does not use */
function refuseOtherFlags(command: Command, action: Action): void {
  const own: Record<Action, readonly string[]> = {
    list: ["format"],
    run: ["again", ...SETTINGS],
    report: [],
  };
  for (const [other, flags] of Object.entries(own)) {
    const wrong = flags.find((key) => command.getOptionValue(attributeOf(key)) !== undefined);
    if (other !== action && wrong !== undefined)
      throw usageError(`--${wrong} is for claims ${other}, not for claims ${action}: leave it out`);
  }
}

const attributeOf = (key: string): string => new Option(`--${key} <value>`).attributeName();

interface Options {
  claims?: string;
  output?: string;
  format?: "table" | "json";
  again?: true;
}

export const claims: CliCommand = {
  name: "claims",
  definition,
  async run(argv, context): Promise<ExitCode> {
    const command = parseCommandLine(definition(), argv);
    if (!command) return EXIT.done;
    const [named = "list", ...ids] = command.args;
    const action = named as Action;
    const options = command.opts<Options>();
    refuseOtherFlags(command, action);
    const register = readRegister(resolve(options.claims ?? join(context.packageFolder, CLAIMS)));
    const chosen = chosenClaims(register, ids);
    const folder = join(resolve(options.output ?? settingOf("output").defaultValue ?? ""), CLAIMS);
    if (action === "list") {
      const folders = [folder, join(context.packageFolder, "results", CLAIMS)];
      context.print(claimList(chosen, folders, options.format ?? "table"));
      return EXIT.done;
    }
    if (action === "report" && ids.length > 0)
      throw usageError("claims report builds the page of all claims: leave the ids out");
    if (action === "report") return report(register, folder, context);
    const flags = settingFlags(command);
    if (!flags.includes("--dry-run")) await unpackCampaigns(folder);
    const measured = await measureCampaigns(
      { register, chosen, campaigns: campaignsOf(chosen), folder, flags, again: options.again === true },
      context,
    );
    // Ctrl-C ends the command, too. A dry run has measured nothing.
    if (measured >= EXIT.interrupted || flags.includes("--dry-run")) return measured;
    const reported = await report(register, folder, context);
    return measured === EXIT.done ? reported : measured;
  },
};

/** Builds the page, the Markdown and the verdicts. */
async function report(register: Register, folder: string, { packageFolder }: CliContext): Promise<ExitCode> {
  await unpackCampaigns(folder);
  await writeRegister(register, folder, packageFolder);
  // Another register, e.g. of a test, is no page of this project.
  const isOwn =
    register.folder === join(packageFolder, CLAIMS) && existsSync(join(packageFolder, "pyproject.toml"));
  const markdown = isOwn ? ["--markdown", join(packageFolder, "docs", "claims.md")] : [];
  return runPython(packageFolder, "claims", [folder, ...markdown]);
}
