import { Argument, Option } from "commander";
import { EXIT, type ExitCode, usageError } from "../../contract/errors.js";
import { groups } from "../../targets/groups.js";
import { runPython } from "../host/python.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { defaultOf, settingOf } from "../request/settings.js";
import type { CliCommand } from "./types.js";

/** What a campaign of noise does unless told otherwise. */
const DEFAULTS: Readonly<Record<string, string>> = {
  runs: "20",
  "duration-mode": "custom:5",
  concurrency: "50",
  warmup: "2",
  cooldown: "0.5",
};
const TARGET = "iovalkey";
/** Others of the campaign's settings that bear on how noisy it is. */
const MORE = ["workload", "traffic", "runtime", "seed", "output"];
/** Two sides of five runs. */
const MIN_RUNS = 10;

const AFTER = `
The runs of one target are compared with each other as two targets of an interleaved campaign would be: how often they
are told apart though nothing differs, by how much they are off (the noise floor, which compare uses between campaigns
of this host), and how many runs a difference of 5 % takes.

Exit codes: those of run; 2 too where fewer than ten runs count`;

function definition() {
  const command = createCommand("ratelimit-bench noise")
    .description("Measures a target against itself: what comparisons on this host are worth.")
    .addArgument(new Argument("[target]", `default: ${TARGET}`))
    .addOption(new Option("--from <dir>", "measure nothing, use the runs of this campaign"))
    .addOption(new Option("--format <format>", "default: table").choices(["table", "json"]));
  for (const key of [...Object.keys(DEFAULTS), ...MORE]) {
    const { value, help } = settingOf(key);
    const defaultValue = DEFAULTS[key];
    command.addOption(
      new Option(`--${key} ${value}`, defaultValue ? `${help} (default: ${defaultValue})` : help),
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
    const told = (root: string) => ["--output", root, ...(format ? ["--format", format] : [])];
    const said = [...Object.keys(DEFAULTS), ...MORE].flatMap((key) => {
      const text = command.getOptionValue(settingAttribute(key)) ?? (from ? undefined : DEFAULTS[key]);
      return text === undefined ? [] : [`--${key}`, String(text)];
    });
    if (from !== undefined) {
      const root = String(command.getOptionValue("output") ?? defaultOf("output"));
      const others = said.filter((word, index) => index % 2 === 0 && word !== "--output");
      if (others.length > 0) throw usageError(`${others[0]} is of no use with --from: nothing is measured`);
      const chosen = target ? ["--target", target] : [];
      return runPython(packageFolder, "noise", [from, ...chosen, ...told(root)]);
    }
    const request = parseCampaign(["--clients", target ?? TARGET, ...said], env);
    if (!request) return EXIT.done;
    checkSingle(request);
    const { exitCode: measured, folder } = await campaign(request);
    // Runs that do not count are left out; whether enough are left, Python knows.
    const endings: ExitCode[] = [EXIT.done, EXIT.runsInvalid, EXIT.configurationFailed];
    if (folder === undefined || !endings.includes(measured)) return measured;
    const code = await runPython(packageFolder, "noise", [folder, ...told(request.output)]);
    return code === EXIT.done ? measured : code;
  },
};

/** @throws usageError unless it is one configuration, often enough */
function checkSingle({ clients, workloads, traffic, connections, runs, adaptive }: Request): void {
  if (clients.length > 1 || groups[clients[0] ?? ""])
    throw usageError(`noise is of one target, not of ${clients.join(", ")}`);
  for (const [flag, list] of Object.entries({ workload: workloads, traffic, concurrency: connections })) {
    if (list.length > 1) throw usageError(`--${flag} ${list.join(",")}: noise is of one configuration`);
  }
  if (adaptive)
    throw usageError("--runs auto: noise compares a target with itself, and takes a fixed number");
  if (runs < MIN_RUNS) throw usageError(`--runs ${runs}: noise takes at least ${MIN_RUNS} runs`);
}

/** The member under which commander keeps a flag's value. */
const settingAttribute = (key: string): string => new Option(`--${key} <value>`).attributeName();
