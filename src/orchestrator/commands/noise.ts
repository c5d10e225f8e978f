import { Argument, Option } from "commander";
import { dimensions } from "../../contract/dimensions.js";
import { EXIT, type ExitCode, usageError } from "../../contract/errors.js";
import { groups } from "../../targets/groups.js";
import { runPython } from "../host/python.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { settingOf } from "../request/settings.js";
import type { CliCommand, CliContext } from "./types.js";

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
const OTHER_SETTINGS = [
  "layer",
  ...dimensions.map(({ key }) => key),
  "workload",
  "traffic",
  "rate",
  "runtime",
  "seed",
  "output",
];
/** Two sides of five runs each. */
const MIN_RUNS = 10;
/** Runs of each of several campaigns. */
const REPEATED_RUNS = { fewest: 5, usual: "5" };
const CAMPAIGNS = { fewest: 2, most: 100 };
const SEEDS = 4_294_967_296;

const AFTER = `
One campaign: its runs are split and compared like two targets of an interleaved campaign. The result shows how often a
difference is found where there is none, how large it is, and how many runs it takes to find a difference of 5 %.

Several campaigns (--campaigns 5, or --from each of them): how far campaigns of the same thing differ. From five of them on
compare uses it as its floor between campaigns on this host, for this target under this load. Each call adds its campaigns
to those that are known, so they may be of different days.

Exit codes: those of run; also 2 if too few runs count`;

interface Options {
  from?: string[];
  campaigns?: string;
  format?: string;
}

function definition() {
  const command = createCommand("ratelimit-bench noise")
    .description("Measures a target against itself: how reliable comparisons on this host are.")
    .addArgument(new Argument("[target]", `default: ${TARGET}`))
    .addOption(
      new Option(
        "--campaigns <n>",
        `repeat the campaign n times, each of ${REPEATED_RUNS.usual} runs: how far campaigns differ`,
      ),
    )
    .addOption(
      new Option("--from <dir>", "use the runs of this campaign; measure nothing; repeatable").argParser(
        (folder: string, before: string[] = []) => [...before, folder],
      ),
    )
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
  async run(argv, context): Promise<ExitCode> {
    const command = parseCommandLine(definition(), argv);
    if (!command) return EXIT.done;
    const [target] = command.args;
    const { from, campaigns, format } = command.opts<Options>();
    const formatFlags = format ? ["--format", format] : [];
    const count = campaigns === undefined ? 1 : campaignsOf(campaigns);
    const defaults = count > 1 ? { ...DEFAULTS, runs: REPEATED_RUNS.usual } : DEFAULTS;
    const settingFlags = [...Object.keys(DEFAULTS), ...OTHER_SETTINGS].flatMap((key) => {
      const text = command.getOptionValue(settingAttribute(key)) ?? (from ? undefined : defaults[key]);
      return text === undefined ? [] : [`--${key}`, String(text)];
    });
    if (from !== undefined) {
      const unused = campaigns === undefined ? settingFlags[0] : "--campaigns";
      if (unused) throw usageError(`${unused} cannot go with --from, which measures nothing`);
      const targetFlags = target ? ["--target", target] : [];
      return runPython(context.packageFolder, "noise", [...from, ...targetFlags, ...formatFlags]);
    }
    const words = ["--clients", target ?? TARGET, ...settingFlags];
    const request = parseCampaign(words, context.env);
    if (!request) return EXIT.done;
    requireOneConfiguration(request, count > 1 ? REPEATED_RUNS.fewest : MIN_RUNS);
    // A repeated campaign has another order and other keys, as one on another day has.
    const repeated = Array.from({ length: count - 1 }, (_, index) =>
      parseCampaign([...words, "--seed", String((request.seed + index + 1) % SEEDS)], context.env),
    );
    const requests = [request, ...repeated.flatMap((each) => each ?? [])];
    const { exitCode, folders } = await measure(requests, context);
    if (folders.length === 0) return exitCode;
    const code = await runPython(context.packageFolder, "noise", [...folders, ...formatFlags]);
    return code === EXIT.done ? exitCode : code;
  },
};

/** @throws usageError that names the range */
function campaignsOf(text: string): number {
  const { fewest, most } = CAMPAIGNS;
  const count = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= fewest && count <= most) return count;
  throw usageError(
    `--campaigns ${JSON.stringify(text.slice(0, 60))}: give a whole number from ${fewest} to ${most}`,
  );
}

/**
 * Runs campaigns one after the other, until one of them ends early.
 * @returns the exit code, and the folders of those with results
 */
async function measure(
  requests: readonly Request[],
  { campaign, print }: CliContext,
): Promise<{ exitCode: ExitCode; folders: string[] }> {
  const folders: string[] = [];
  let worst: ExitCode = EXIT.done;
  for (const [index, request] of requests.entries()) {
    if (requests.length > 1) print(`campaign ${index + 1} of ${requests.length}`);
    const { exitCode, folder } = await campaign(request);
    // Python leaves out invalid runs and checks that enough remain.
    const usable: ExitCode[] = [EXIT.done, EXIT.runsInvalid, EXIT.configurationFailed];
    if (folder === undefined || !usable.includes(exitCode)) return { exitCode, folders };
    folders.push(folder);
    if (usable.indexOf(exitCode) > usable.indexOf(worst)) worst = exitCode;
  }
  return { exitCode: worst, folders };
}

/** @throws usageError unless the request is one configuration with enough runs */
function requireOneConfiguration(
  { clients, layers, counts, workloads, traffic, connections, rates, runs, adaptive }: Request,
  fewest: number,
): void {
  if (clients.length > 1 || groups[clients[0] ?? ""])
    throw usageError(`noise measures one target, not ${clients.join(", ")}`);
  const lists = {
    layer: layers,
    ...counts,
    workload: workloads,
    traffic,
    concurrency: connections,
  };
  for (const [flag, list] of Object.entries({ ...lists, rate: rates })) {
    if (list.length > 1) throw usageError(`--${flag} ${list.join(",")}: noise measures one configuration`);
  }
  if (adaptive) throw usageError("--runs auto: noise needs a fixed number of runs");
  if (runs < fewest) throw usageError(`--runs ${runs}: noise needs at least ${fewest} runs`);
}

/** The name under which commander stores a flag's value. */
const settingAttribute = (key: string): string => new Option(`--${key} <value>`).attributeName();
