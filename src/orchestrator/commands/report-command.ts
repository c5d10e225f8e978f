import { Argument } from "commander";
import { LATEST, RESULTS_ROOT, reportCommands } from "../../contract/report-commands.js";
import { EXIT, type ExitCode, usageError } from "../../kit/errors.js";
import { runPython } from "../host/python.js";
import { createCommand } from "../request/command-line.js";
import { addReportFlags } from "../request/report-flags.js";
import { parsedCommand } from "./command-types.js";

const AFTER = `
A campaign builds its report when it ends. This command builds it again, e.g. after an update or an interruption. With
--compare-runs, DIR holds campaigns; the report DIR/report/ shows them side by side (default: the results root).

Examples:
  ratelimit-bench report
  ratelimit-bench report results/20260102_030405 --images
  ratelimit-bench report --compare-runs --include-trends
${reportCommands.report.after}`;

const ONE_CAMPAIGN = ["images", "summaryJson", "csv", "junit"] as const;
const SEVERAL_CAMPAIGNS = ["includeTrends", "baseline"] as const;

function definition() {
  const command = createCommand("ratelimit-bench report")
    .description(reportCommands.report.description)
    .addArgument(
      new Argument("[dir...]", `folders of campaigns (default: ${RESULTS_ROOT}/${LATEST})`),
    )
    .option("--compare-runs", "each DIR holds campaigns: show them side by side");
  return addReportFlags(command, reportCommands.report).addHelpText("after", AFTER);
}

export const report = parsedCommand("report", definition, async (command, { packageFolder }) => {
  const options = command.opts<Record<string, string | true>>();
  const { compareRuns } = options;
  const [wrong] = (compareRuns ? ONE_CAMPAIGN : SEVERAL_CAMPAIGNS).filter(
    (name) => options[name] !== undefined,
  );
  if (wrong !== undefined)
    throw usageError(`${flagOf(wrong)} ${compareRuns ? "cannot go with" : "needs"} --compare-runs`);
  if (options.junit !== undefined && command.args.length > 1)
    throw usageError("--junit is the file of one campaign: give one DIR");
  const flags = Object.entries(options).flatMap(([name, value]) => {
    if (name === "compareRuns") return [];
    return value === true ? [flagOf(name)] : [`${flagOf(name)}=${value}`];
  });
  const folders =
    command.args.length > 0
      ? command.args
      : [compareRuns ? RESULTS_ROOT : `${RESULTS_ROOT}/${LATEST}`];
  let worst: ExitCode = EXIT.done;
  for (const folder of folders) {
    // A folder must not look like a flag.
    const path = folder.startsWith("-") ? `./${folder}` : folder;
    const target = compareRuns ? [`--compare-runs=${path}`] : [path];
    const code = await runPython(packageFolder, "report", [...target, ...flags]);
    if (code >= EXIT.interrupted) return code;
    if (code > worst) worst = code;
  }
  return worst;
});

const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
