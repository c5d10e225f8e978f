import { Argument, Option } from "commander";
import { EXIT, type ExitCode, usageError } from "../../contract/errors.js";
import { runPython } from "../host/python.js";
import { createCommand } from "../request/command-line.js";
import { defaultOf } from "../request/settings.js";
import { parsedCommand } from "./types.js";

const AFTER = `
A campaign builds its report when it ends. This command builds it again, e.g. after an update or an interruption. With
--compare-runs, DIR holds campaigns; the report DIR/report/ shows them side by side (default: the results root).

Examples:
  ratelimit-bench report
  ratelimit-bench report results/20260102_030405 --images
  ratelimit-bench report --compare-runs --include-trends

Exit codes: 0 done, 2 bad usage or a damaged file, 3 environment not fit, 4 writing failed`;

const ONE_CAMPAIGN = ["images", "summaryJson", "csv"] as const;
const FORMATS = ["html", "csv", "md", "json", "all"];
const SEVERAL_CAMPAIGNS = ["includeTrends", "baseline"] as const;

const RESULTS = defaultOf("output");

const definition = () =>
  createCommand("ratelimit-bench report")
    .description("Builds the report of a campaign again, or one report of all campaigns in a folder.")
    .addArgument(new Argument("[dir...]", `folders of campaigns (default: ${RESULTS}/latest)`))
    .option("--compare-runs", "each DIR holds campaigns: show them side by side")
    .option("--include-trends", "with --compare-runs: the history of each configuration")
    .option(
      "--baseline <campaign>",
      "with --compare-runs: the campaign to relate others to, a name or a folder",
    )
    .addOption(new Option("--output-format <format>", "files to write (default: all)").choices(FORMATS))
    .addOption(
      new Option("--csv <form>", "long: also figures.csv, a line for each figure").choices(["wide", "long"]),
    )
    .option("--images", "also charts as SVG, in report/images/")
    .option("--keep-going", "leave out damaged files, and list them")
    .option("--summary-json", "print the figures as one JSON document instead of the path")
    .addHelpText("after", AFTER);

export const report = parsedCommand("report", definition, async (command, { packageFolder }) => {
  const options = command.opts<Record<string, string | true>>();
  const { compareRuns } = options;
  const [wrong] = (compareRuns ? ONE_CAMPAIGN : SEVERAL_CAMPAIGNS).filter(
    (name) => options[name] !== undefined,
  );
  if (wrong !== undefined)
    throw usageError(`${flagOf(wrong)} ${compareRuns ? "cannot go with" : "needs"} --compare-runs`);
  const flags = Object.entries(options).flatMap(([name, value]) => {
    if (name === "compareRuns") return [];
    return value === true ? [flagOf(name)] : [`${flagOf(name)}=${value}`];
  });
  const folders = command.args.length > 0 ? command.args : [compareRuns ? RESULTS : `${RESULTS}/latest`];
  let worst: ExitCode = EXIT.done;
  for (const folder of folders) {
    // A folder must not look like a flag.
    const path = folder.startsWith("-") ? `./${folder}` : folder;
    const target = compareRuns ? [`--compare-runs=${path}`] : [path];
    const code = await runPython(packageFolder, "generate", [...target, ...flags]);
    if (code >= EXIT.interrupted) return code;
    if (code > worst) worst = code;
  }
  return worst;
});

const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
