import { warmupText } from "../../contract/configuration.js";
import type { Manifest } from "../../contract/manifest.js";
import { countedRuns, isCounted } from "../../contract/plan.js";
import { decidable } from "../plan/decidable.js";
import { requestedRuns } from "../plan/decision-rounds.js";
import { entryText, extentText, loadAndLimitsText } from "../ui/event-text.js";
import { counted } from "../ui/text.js";

const list = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [`## ${title}`, "", ...lines.map((line) => `- ${line}`), ""] : [];

const ENDED = {
  decided: "all that could be decided was decided",
  "max runs": "the most runs allowed were made",
  budget: "its time was used up",
} as const;

/**
 * `15 runs, 3 of each of 5 configurations`, `55 runs in 5 rounds of 9 configurations`; or how many
 * an adaptive campaign has requested so far, and why no more.
 */
function runsText({ plan, adaptive }: Manifest): string {
  if (plan.max_rate) {
    const objectives = plan.max_rate.objectives.join(", ");
    return `${counted(plan.runs.length, "run")} of a search for the highest rate that keeps ${objectives}`;
  }
  const maxRuns = plan.runs_per_configuration;
  const count = plan.configurations.length;
  const all = counted(count, "configuration");
  const ofEach = count > 1 ? `each of ${all}` : all;
  const diagnosing = plan.runs.filter(({ diagnose }) => diagnose).length;
  if (diagnosing === plan.runs.length)
    return `${counted(diagnosing, "run")} with instruments of ${ofEach}`;

  const more = diagnosing > 0 ? `, and ${diagnosing} with instruments` : "";
  const runs = plan.runs.filter(isCounted).length;
  const countText = counted(runs, "run");
  if (!plan.adaptive) {
    // A reference has a run in each group of its ranking.
    if (runs > maxRuns * count) return `${countText} in ${maxRuns} rounds of ${all}${more}`;
    const runsOfEach = count > 1 ? `, ${maxRuns}` : "";
    return `${countText}${runsOfEach} of ${ofEach}${more}`;
  }

  const requested = requestedRuns({ plan, adaptive }).filter(isCounted).length;
  const ended = adaptive?.ended && ENDED[adaptive.ended.why];
  const why = ended ? `, ended because ${ended}: as many as it took` : ": as many as it takes";
  const range = `${plan.adaptive.looks[0]} to ${maxRuns}`;
  return `${requested} of at most ${countText}${why}, ${range}, of ${ofEach}${more}`;
}

const timeText = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;

function sessionLines({ sessions = [], status }: Manifest): string[] {
  if (sessions.length < 2) return [];
  return sessions.map(({ started_at, finished_at }, index) => {
    if (finished_at) return `${timeText(started_at)} to ${timeText(finished_at)}`;
    const runs = status === "running" && index === sessions.length - 1;
    return `${timeText(started_at)}${runs ? ", running" : " until it was killed"}`;
  });
}

/** `running, resumed at …`. */
function statusText({ status, sessions = [] }: Manifest): string {
  const [, ...resumed] = sessions;
  const last = resumed.at(-1);
  return status === "running" && last ? `running, resumed at ${timeText(last.started_at)}` : status;
}

/** Where the report is, or when it will be there. */
function reportText({ status, sessions = [] }: Manifest): string {
  if (status === "running") {
    const before = sessions.length > 1 ? "; an existing one is from an earlier session" : "";
    return `The report, \`report/index.html\`, is written when the campaign ends${before}`;
  }
  const scope = status === "aborted" ? " of the measured runs, if any" : "";
  return `\`report/index.html\` is the report${scope}, \`report/summary.csv\` its table`;
}

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
    `Status: ${statusText(manifest)}. ${runsText(manifest)}, ${plan.order}, ${warmupText(plan.warmup_s, plan.order)} before each, discarded.`,
    "",
    "Repeat it with",
    "",
    "```bash",
    command,
    "```",
    "",
    `Machine: ${machine.cpu_model}, ${machine.cpus} CPUs, ${machine.kernel}. Runtime: ${manifest.runtime.id}.`,
    "",
    ...list("Configurations", configurations),
    ...list("Comparisons", decidable(plan).lines),
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
