import { Argument, Option } from "commander";
import { EXIT, type ExitCode, usageError } from "../../contract/errors.js";
import { groups } from "../../targets/groups.js";
import { runPython } from "../host/python.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { defaultOf, settingOf } from "../request/settings.js";
import type { CliCommand } from "./types.js";

/** Settings of a noise campaign unless flags override them. */
const DEFAULTS: Readonly<Record<string, string>> = {
  runs: "20",
  "duration-mode": "custom:5",
  concurrency: "50",
  warmup: "2",
  cooldown: "0.5",
};
const TARGET = "iovalkey";
/** Further settings of a campaign that noise accepts. */
const OTHER_SETTINGS = ["workload", "traffic", "runtime", "seed", "output"];
/** Two sides of five runs each. */
const MIN_RUNS = 10;

const AFTER = `
The runs of one target are split and compared like two targets of an interleaved campaign. The result shows how often a
difference is found where there is none, how large it is (the noise floor, which compare uses between campaigns of this
host), and how many runs it takes to find a difference of 5 %.

Exit codes: those of run; also 2 if fewer than ten runs count`;

function definition() {
  const command = createCommand("ratelimit-bench noise")
    .description("Measures a target against itself: how reliable comparisons on this host are.")
    .addArgument(new Argument("[target]", `default: ${TARGET}`))
    .addOption(new Option("--from <dir>", "use the runs of this campaign; measure nothing"))
    .addOption(new Option("--format <format>", "default: table").choices(["table", "json"]));
  for (const key of [...Object.keys(DEFAULTS), ...OTHER_SETTINGS]) {
    const { value, help, defaultText, defaultValue } = settingOf(key);
    const shownDefault = DEFAULTS[key] ?? defaultText ?? defaultValue;
    command.addOption(
      new Option(`--${key} ${value}`, shownDefault ? `${help} (default: ${shownDefault})` : help),
    );
  }
  return command.addHelpText("after", AFTER);
}

export const noise: CliCommand = {
  name: "noise",
  definition,
  async run(argv, { env, campaign, packageFolder }): Promise<ExitCode> {
    const command = parseCommandLine(definition(), argv);
    if (!command) return EXIT.done;
    const [target] = command.args;
    const { from, format } = command.opts<{ from?: string; format?: string }>();
    const outputFlags = (root: string) => ["--output", root, ...(format ? ["--format", format] : [])];
    const settingFlags = [...Object.keys(DEFAULTS), ...OTHER_SETTINGS].flatMap((key) => {
      const text = command.getOptionValue(settingAttribute(key)) ?? (from ? undefined : DEFAULTS[key]);
      return text === undefined ? [] : [`--${key}`, String(text)];
    });
    if (from !== undefined) {
      const root = String(command.getOptionValue("output") ?? defaultOf("output"));
      const unused = settingFlags.filter((text, index) => index % 2 === 0 && text !== "--output");
      if (unused.length > 0) throw usageError(`${unused[0]} cannot go with --from, which measures nothing`);
      const targetFlags = target ? ["--target", target] : [];
      return runPython(packageFolder, "noise", [from, ...targetFlags, ...outputFlags(root)]);
    }
    const request = parseCampaign(["--clients", target ?? TARGET, ...settingFlags], env);
    if (!request) return EXIT.done;
    requireOneConfiguration(request);
    const { exitCode, folder } = await campaign(request);
    // Python leaves out invalid runs and checks that enough remain.
    const usable: ExitCode[] = [EXIT.done, EXIT.runsInvalid, EXIT.configurationFailed];
    if (folder === undefined || !usable.includes(exitCode)) return exitCode;
    const code = await runPython(packageFolder, "noise", [folder, ...outputFlags(request.output)]);
    return code === EXIT.done ? exitCode : code;
  },
};

/** @throws usageError unless the request is one configuration with enough runs */
function requireOneConfiguration({
  clients,
  workloads,
  traffic,
  connections,
  runs,
  adaptive,
}: Request): void {
  if (clients.length > 1 || groups[clients[0] ?? ""])
    throw usageError(`noise measures one target, not ${clients.join(", ")}`);
  for (const [flag, list] of Object.entries({ workload: workloads, traffic, concurrency: connections })) {
    if (list.length > 1) throw usageError(`--${flag} ${list.join(",")}: noise measures one configuration`);
  }
  if (adaptive) throw usageError("--runs auto: noise needs a fixed number of runs");
  if (runs < MIN_RUNS) throw usageError(`--runs ${runs}: noise needs at least ${MIN_RUNS} runs`);
}

/** The name under which commander stores a flag's value. */
const settingAttribute = (key: string): string => new Option(`--${key} <value>`).attributeName();
