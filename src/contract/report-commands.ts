import { numberWord } from "../kit/numbers.js";
import { MIN_PAIRS, MIN_RUNS } from "./statistics.js";

/** The folder that holds campaigns, unless `--output` names another. */
export const RESULTS_ROOT = "results";

/** The name of the newest campaign in the folder of the campaigns. */
export const LATEST = "latest";

/** A flag of a command that Python carries out. */
export interface ReportFlag {
  /** The name of the flag without its dashes. */
  name: string;
  help: string;
  /** The placeholder of the flag's value. It is absent for a switch. */
  value?: string;
  /** All values that it takes. */
  choices?: readonly string[];
  /** The value that Python takes where the flag is missing. */
  defaultValue?: string;
  /** How the help shows a default that is not a value of the flag. */
  defaultText?: string;
}

/** What a command of the command line and the program of the report behind it say alike. */
export interface ReportCommand {
  description: string;
  flags: readonly ReportFlag[];
  /** What the help explains after the flags. */
  after: string;
}

/** The properties in which the sides of a comparison may differ, if `--allow` names them. */
export const COMPARED_KINDS = [
  "machine",
  "schema",
  "store",
  "script",
  "topology",
  "runtime",
  "order",
];

const compare: ReportCommand = {
  description: "Compares targets of a campaign, campaigns, or a campaign with a saved baseline.",
  flags: [
    {
      name: "campaign",
      value: "<dir>",
      help: "campaign of the targets",
      defaultText: `${LATEST} of --output`,
    },
    {
      name: "metric",
      value: "<metric>",
      help: "figure to compare",
      choices: ["throughput", "p50", "p99", "cpu", "server_cores", "store_cores", "service_cores"],
      defaultValue: "throughput",
    },
    {
      name: "margin",
      value: "<percent>",
      help: "a difference that is no larger does not matter to you",
      defaultText: "that of NEW's campaign",
    },
    {
      name: "tolerate",
      value: "<percent>",
      help: "a gate: throughput and CPU may be worse by less than this, e.g. 10%",
    },
    {
      name: "audit",
      value: "<dir>",
      help: "with --tolerate: an audit of both sides, whose broken promises fail NEW",
    },
    {
      name: "fail-on",
      value: "<what>",
      help: "never: exit with 0 whatever the result",
      choices: ["regression", "never"],
      defaultValue: "regression",
    },
    {
      name: "format",
      value: "<format>",
      help: "how to print it",
      choices: ["table", "md", "json"],
      defaultValue: "table",
    },
    {
      name: "junit",
      value: "<file>",
      help: "also write it as JUnit's XML: a regression is a failure, what is not decided is skipped",
    },
    { name: "baseline", value: "<name>", help: "compare with this saved baseline" },
    {
      name: "save-baseline",
      value: "<name>",
      help: "save a campaign under this name; compare nothing",
    },
    { name: "allow", value: "<list>", help: `allowed differences: ${COMPARED_KINDS.join(", ")}` },
    {
      name: "output",
      value: "<dir>",
      help: "results root, which also holds the baselines",
      defaultValue: RESULTS_ROOT,
    },
  ],
  after: `
Each side is TARGET (of --campaign), DIR#TARGET, or DIR for every target of that campaign. An argument with a / is a
folder. With --baseline give NEW alone, or nothing for every target of --campaign.

NEW is slower, with exit code 6, only if the 95 % interval of the ratio lies beyond the margin and the exact test with
Holm's correction agrees. By turns the targets are compared round by round, and at least ${numberWord(MIN_PAIRS)} rounds are needed; otherwise ${numberWord(MIN_RUNS)}
runs per side. Two campaigns, or a campaign and a baseline, are compared by their ratios to the reference that both have,
of at least ${numberWord(MIN_PAIRS)} rounds each. Without such a reference the host does not cancel, and nothing is decided.

In a closed loop CPU per request follows from the throughput, so --metric cpu concludes nothing there. Measure both sides
at one rate (run --rate) to compare it.

With --tolerate two targets of one campaign pass where every loss of throughput, and every rise of CPU per request, is
bounded below it. They fail, with exit code 6, where one beyond the margin was shown. Both figures are one family.

If targets run different limiter scripts, the comparison covers client and script together. Different stores,
machines of another kind or runtimes are refused unless --allow names them.

Examples:
  ratelimit-bench compare iovalkey ioredis@valkey
  ratelimit-bench compare iovalkey+same-script valkey-glide+same-script
  ratelimit-bench compare --metric p99 iovalkey iovalkey+autopipelining --campaign results/20260102_030405
  ratelimit-bench compare results/20260102_030405 results/latest --format md
  ratelimit-bench compare ioredis-base ioredis-head --tolerate 10% --audit results/audits/20260102_030405
  ratelimit-bench compare --save-baseline main
  ratelimit-bench compare --baseline main      after the next campaign

Exit codes: 0 no regression, 2 bad usage or not comparable, 3 environment not fit, 4 writing failed, 6 a regression,
            7 not decided: a regression was neither shown nor excluded`,
};

const report: ReportCommand = {
  description: "Builds the report of a campaign again, or one report of all campaigns in a folder.",
  flags: [
    { name: "include-trends", help: "with --compare-runs: the history of each configuration" },
    {
      name: "baseline",
      value: "<campaign>",
      help: "with --compare-runs: the campaign to relate others to, a name or a folder",
    },
    {
      name: "output-format",
      value: "<format>",
      help: "files to write",
      choices: ["html", "csv", "md", "json", "all"],
      defaultValue: "all",
    },
    {
      name: "csv",
      value: "<form>",
      help: "long: also figures.csv, a line for each figure",
      choices: ["wide", "long"],
      defaultValue: "wide",
    },
    { name: "images", help: "also charts as SVG, in report/images/" },
    { name: "keep-going", help: "leave out damaged files, and list them" },
    {
      name: "junit",
      value: "<file>",
      help: "also write what the campaign's thresholds say, as JUnit's XML",
    },
    { name: "summary-json", help: "print the figures as one JSON document instead of the path" },
    {
      name: "plan-for",
      value: "<rate>",
      help: "print the cores of server and store at this rate, by a load curve, e.g. 5000/s",
    },
  ],
  after: `
--plan-for takes a campaign with a load curve (run --load-curve, run --rates LIST). Between two measured rates it
interpolates in cores; beyond them it refuses, because nothing is extrapolated.

Exit codes: 0 done, 2 bad usage, a damaged file, or a rate that no target's curve holds, 3 environment not fit,
            4 writing failed`,
};

const memory: ReportCommand = {
  description: "Measures the bytes that a key takes, for every limiter and store.",
  flags: [
    {
      name: "format",
      value: "<format>",
      help: "how to print it",
      choices: ["table", "json"],
      defaultValue: "table",
    },
  ],
  after: `
Exit codes: those of run; also 2 if no slope can be computed`,
};

/**
 * The flags stand once: the command line reads this list, the report
 * `generated/report-commands.json` made from it.
 */
export const reportCommands = { compare, report, memory };
