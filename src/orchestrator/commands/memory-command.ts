import { Option } from "commander";
import { reportCommands } from "../../contract/report-commands.js";
import { EXIT, type ExitCode, usageError } from "../../kit/errors.js";
import { runPython } from "../host/python.js";
import { createCommand } from "../request/command-line.js";
import { REQUESTS_DURATION } from "../request/durations.js";
import {
  addSettings,
  joined,
  noDefaults,
  type TakenSettings,
  takenFlags,
} from "../request/flags.js";
import { parseCampaign } from "../request/parse-request.js";
import { addReportFlags } from "../request/report-flags.js";
import { listOf, numberIn } from "../request/setting-values.js";
import { parsedCommand } from "./command-types.js";

const SETTINGS: TakenSettings = {
  clients: "",
  limiter: "",
  runs: "3",
  // A key lives until its window has passed, with a limiter that fills its quota evenly for a tenth
  // of it.
  window: "3600",
  points: "10",
  concurrency: "50",
  cooldown: "0",
  ...noDefaults(["runtime", "plugin", "program", "image", "seed", "output"]),
  ...noDefaults(["progress", "allow-parallel", "dry-run"]),
};
/**
 * What makes it a memory campaign: each request is a fresh key, and nothing else reaches the
 * limiter.
 */
const FIXED = [
  "--layer",
  "limiter",
  "--traffic",
  "variable",
  "--warmup",
  "0",
  "--order",
  "interleaved",
  // It compares no speeds.
  "--no-copy",
];
const KEYS = "10000,50000,100000";

const AFTER = `
Each run starts a fresh store and sends exactly as many decisions as it has keys, each on a key of its own. Memory is read
before the first decision and after the last answer: by the store's own counter, by the resident memory of a store or
service, and by the heap of a limiter in the process. The slope over the numbers of keys is the bytes that a key takes.

Results are those of a campaign, with the table in report/memory.csv and report/memory.json.
${reportCommands.memory.after}`;

function definition() {
  const command = createCommand("ratelimit-bench memory")
    .description(reportCommands.memory.description)
    .addOption(
      new Option(
        "--keys <list>",
        `numbers of fresh keys, at least two (default: ${KEYS})`,
      ).argParser(joined),
    );
  addReportFlags(command, reportCommands.memory);
  return addSettings(command, SETTINGS).addHelpText("after", AFTER);
}

function keyCounts(text: string): string {
  const counts = listOf("--keys", text, []).map((word) => numberIn("requests", "--keys", word));
  if (counts.length < 2)
    throw usageError(`--keys ${text.slice(0, 60)}: a slope needs two numbers or more`);
  return counts.join(",");
}

export const memory = parsedCommand("memory", definition, async (command, context) => {
  const { env, campaign, packageFolder } = context;
  const { keys = KEYS, format } = command.opts<{ keys?: string; format?: string }>();
  if (env.STORE_URL)
    throw usageError("STORE_URL: memory starts a fresh store for each run; unset it to go on");
  const extent = ["--duration-mode", `${REQUESTS_DURATION}${keyCounts(keys)}`];
  const request = parseCampaign([...takenFlags(command, SETTINGS), ...FIXED, ...extent], env);
  if (!request) return EXIT.done;
  if (request.rounds.adaptive) throw usageError("--runs auto: memory needs a fixed number of runs");
  const { exitCode, folder } = await campaign({
    ...request,
    output: { ...request.output, ownResult: true },
  });
  // Python says what is missing, e.g. after Ctrl-C.
  const analysable: ExitCode[] = [
    EXIT.done,
    EXIT.runsInvalid,
    EXIT.configurationFailed,
    EXIT.interrupted,
  ];
  if (folder === undefined || !analysable.includes(exitCode)) return exitCode;

  const words = format ? [folder, "--format", format] : [folder];
  const analysed = await runPython(packageFolder, "memory", words);
  return exitCode === EXIT.done ? analysed : exitCode;
});
