import { warmupText } from "../../contract/configuration.js";
import type { Manifest } from "../../contract/manifest.js";
import { countedRuns, isCounted, roundOf } from "../../contract/plan.js";
import { installedForm } from "../../kit/command-text.js";
import { decidable } from "../plan/decidable.js";
import { requestedRuns } from "../plan/decision-rounds.js";
import { entryText, extentText, loadAndLimitsText } from "../ui/event-text.js";
import { counted } from "../ui/text.js";

/** A section of the README with a list; empty without lines. */
const list = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [`## ${title}`, "", ...lines.map((line) => `- ${line}`), ""] : [];

/** Texts for the reasons why an adaptive campaign ended. */
const END_REASONS = {
  decided: "all that could be decided was decided",
  "max runs": "the most runs allowed were made",
  budget: "its time was used up",
} as const;

/**
 * The runs as `15 runs, 3 of each of 5 configurations` or `55 runs in 5 rounds of 9 configurations`.
 * For an adaptive campaign it says how many were requested so far, and why no more.
 */
function runsText({ plan, adaptive }: Manifest): string {
  if (plan.max_rate) {
    const objectives = plan.max_rate.objectives.join(", ");
    return `${counted(plan.runs.length, "run")} of a search for the highest rate that keeps ${objectives}`;
  }
  const maxRuns = plan.runs_per_configuration;
  const count = plan.configurations.length;
  const configurations = counted(count, "configuration");
  const ofEach = count > 1 ? `each of ${configurations}` : configurations;
  const diagnosing = plan.runs.filter(({ diagnose }) => diagnose).length;
  if (diagnosing === plan.runs.length)
    return `${counted(diagnosing, "run")} with instruments of ${ofEach}`;

  const diagnosingText = diagnosing > 0 ? `, and ${diagnosing} with instruments` : "";
  const runs = plan.runs.filter(isCounted).length;
  const countText = counted(runs, "run");
  if (!plan.adaptive) {
    // A reference has a run in each group of its ranking.
    if (runs > maxRuns * count) {
      const rounds = Math.max(...plan.runs.map(roundOf));
      return `${countText} in ${rounds} rounds of ${configurations}${diagnosingText}`;
    }
    const runsOfEach = count > 1 ? `, ${maxRuns}` : "";
    return `${countText}${runsOfEach} of ${ofEach}${diagnosingText}`;
  }

  const requested = requestedRuns({ plan, adaptive }).filter(isCounted).length;
  const endReason = adaptive?.ended && END_REASONS[adaptive.ended.why];
  const reasonText = endReason
    ? `, ended because ${endReason}: as many as it took`
    : ": as many as it takes";
  const range = `${plan.adaptive.looks[0]} to ${maxRuns}`;
  return `${requested} of at most ${countText}${reasonText}, ${range}, of ${ofEach}${diagnosingText}`;
}

const timeText = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

function sessionLines({ sessions = [], status }: Manifest): string[] {
  if (sessions.length < 2) return [];
  return sessions.map(({ started_at, finished_at }, index) => {
    if (finished_at) return `${timeText(started_at)} to ${timeText(finished_at)}`;
    const isRunning = status === "running" && index === sessions.length - 1;
    return `${timeText(started_at)}${isRunning ? ", running" : " until it was killed"}`;
  });
}

/** The status of a campaign, e.g. `running, resumed at …`. */
function statusText({ status, sessions = [] }: Manifest): string {
  const [, ...resumed] = sessions;
  const last = resumed.at(-1);
  return status === "running" && last ? `running, resumed at ${timeText(last.started_at)}` : status;
}

/** A sentence that says where the report is, or when it will be there. */
function reportText({ status, sessions = [] }: Manifest): string {
  if (status === "running") {
    const earlierReport = sessions.length > 1 ? "; an existing one is from an earlier session" : "";
    return `The report, \`report/index.html\`, is written when the campaign ends${earlierReport}`;
  }
  const scope = status === "aborted" ? " of the measured runs, if any" : "";
  return `\`report/index.html\` is the report${scope}, \`report/summary.csv\` its table`;
}

/** A line that says that the spare round was made, and why. */
const spareRoundLines = ({ spare_round: spare }: Manifest): string[] =>
  spare
    ? [`round ${spare.round} is the spare round, for invalid runs in ${spare.replaces.join(", ")}`]
    : [];

/** The lines with the command, also as a reader types it who has no checkout. */
function repeatLines(command: string): string[] {
  const inBlock = (text: string): string[] => ["", "```bash", text, "```", ""];
  const installed = installedForm(command);
  if (installed === command) return ["Repeat it with", ...inBlock(command)];
  return [
    "Repeat it in a checkout of ratelimit-bench with",
    ...inBlock(command),
    "or where the package is installed with",
    ...inBlock(installed),
  ];
}

/** The README.md in the folder of a campaign. */
export function campaignReadme(manifest: Manifest): string {
  const { plan, machine, campaign, command, conditions, stores } = manifest;
  const configurations = plan.configurations.map(({ hash, configuration }) => {
    const { target, traffic } = configuration;
    const requested = countedRuns({ runs: requestedRuns(manifest) }, hash);
    const runs = manifest.adaptive ? `, ${counted(requested, "run")}` : "";
    return `${target.label}: ${entryText(configuration)}, ${traffic} traffic, ${loadAndLimitsText(configuration)}, ${extentText(configuration)}${runs}`;
  });
  return [
    `# Campaign ${campaign}`,
    "",
    `Status: ${statusText(manifest)}. ${runsText(manifest)}, ${plan.order}, ${warmupText(plan)} before each${plan.load_curve ? " round" : ""}, discarded.`,
    "",
    ...repeatLines(command),
    `Machine: ${machine.cpu_model}, ${machine.cpus} CPUs, ${machine.kernel}. Runtime: ${manifest.runtime.id}.`,
    "",
    ...list("Configurations", configurations),
    ...list("Comparisons", [...decidable(plan).lines, ...spareRoundLines(manifest)]),
    ...list("Concluded", manifest.adaptive?.ended?.concluded ?? []),
    ...list("Inconclusive", manifest.adaptive?.ended?.not_concluded ?? []),
    ...list(
      "Stores and services",
      Object.entries(stores).map(
        ([id, { version, embedded }]) => `${id} ${version}${embedded ? " (embedded)" : ""}`,
      ),
    ),
    ...list("Sessions", sessionLines(manifest)),
    ...list(
      "Skipped",
      plan.skips.map(({ asked, reason }) => `${asked}: ${reason}`),
    ),
    ...list("Know before reading the figures", [
      ...plan.notes,
      ...(plan.sources ?? []),
      ...conditions,
    ]),
    `${reportText(manifest)}; each \`*_runN.json\` is one run.`,
    "",
  ].join("\n");
}
