import { Argument, Option } from "commander";
import { EXIT, type ExitCode, usageError } from "../../contract/errors.js";
import { runPython } from "../host/python.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { defaultOf } from "../request/settings.js";
import type { CliCommand } from "./types.js";

const AFTER = `
A campaign builds its own report when it ends; this builds it again, e.g. after an update, or where it was interrupted. With
--compare-runs a DIR holds campaigns, which stand side by side in DIR/report/ (default: the results root).

Examples:
  ratelimit-bench report
  ratelimit-bench report results/20260102_030405 --images
  ratelimit-bench report --compare-runs --include-trends

Exit codes: 0 done, 2 bad usage or a file that is not what it should be, 3 environment not fit, 4 writing failed`;

/** Of a single campaign, and of several. */
const SINGLE = ["images", "summaryJson"] as const;
const SEVERAL = ["includeTrends", "baseline"] as const;

const RESULTS = defaultOf("output");

const definition = () =>
  createCommand("ratelimit-bench report")
    .description("Builds the report of a campaign again, or one that compares all campaigns of a folder.")
    .addArgument(new Argument("[dir...]", `campaigns' folders (default: ${RESULTS}/latest)`))
    .addOption(new Option("--compare-runs", "each DIR holds campaigns: show them side by side"))
    .addOption(new Option("--include-trends", "with --compare-runs: the history of each configuration"))
    .addOption(
      new Option("--baseline <campaign>", "with --compare-runs: what others relate to, a name or a folder"),
    )
    .addOption(
      new Option("--output-format <format>", "which files (default: all)").choices([
        "html",
        "csv",
        "md",
        "json",
        "all",
      ]),
    )
    .addOption(new Option("--images", "also charts as SVG, in report/images/"))
    .addOption(new Option("--keep-going", "leave out files that are not what they should be, and list them"))
    .addOption(new Option("--summary-json", "print the figures as one JSON document instead of the path"))
    .addHelpText("after", AFTER);

/** Python does the work: it holds all statistics. */
export const report: CliCommand = {
  name: "report",
  definition,
  async run(argv, { packageFolder }): Promise<ExitCode> {
    const command = parseCommandLine(definition(), argv);
    if (!command) return EXIT.done;
    const said = command.opts<Record<string, string | true>>();
    const { compareRuns } = said;
    const [wrong] = (compareRuns ? SINGLE : SEVERAL).filter((name) => said[name] !== undefined);
    if (wrong !== undefined)
      throw usageError(`${flagOf(wrong)} is ${compareRuns ? "of no use with" : "only for"} --compare-runs`);
    const flags = Object.entries(said).flatMap(([name, value]) => {
      if (name === "compareRuns") return [];
      return value === true ? [flagOf(name)] : [`${flagOf(name)}=${value}`];
    });
    const folders = command.args.length > 0 ? command.args : [compareRuns ? RESULTS : `${RESULTS}/latest`];
    let worst: ExitCode = EXIT.done;
    for (const folder of folders) {
      // No folder is taken for a flag.
      const path = folder.startsWith("-") ? `./${folder}` : folder;
      const asked = compareRuns ? [`--compare-runs=${path}`] : [path];
      const code = await runPython(packageFolder, "generate", [...asked, ...flags]);
      if (code >= EXIT.interrupted) return code;
      if (code > worst) worst = code;
    }
    return worst;
  },
};

const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
