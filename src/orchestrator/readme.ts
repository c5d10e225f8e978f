import { loadText } from "../contract/configuration.js";
import type { Manifest } from "../contract/manifest.js";
import { askedRuns } from "./adaptive/looks.js";

const list = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [`## ${title}`, "", ...lines.map((line) => `- ${line}`), ""] : [];

const ENDED = {
  decided: "all that could be decided was decided",
  "max runs": "the most runs allowed were made",
  budget: "the time it was given was used up",
} as const;

/** `15 runs: 3`, or how many an adaptive campaign has made until now, and why no more. */
function runsText({ plan, adaptive }: Manifest): string {
  const most = plan.runs_per_configuration;
  if (!plan.adaptive) return `${plan.runs.length} runs: ${most}`;
  const asked = askedRuns({ plan, adaptive }).length;
  const why = adaptive?.ended ? `, ended because ${ENDED[adaptive.ended.why]}` : "";
  return `${asked} of at most ${plan.runs.length} runs${why}: as many as it took, ${plan.adaptive.looks[0]} to ${most},`;
}

/** The README of a campaign's folder: what ran, and how to repeat it. */
export function campaignReadme(manifest: Manifest): string {
  const { plan, machine, campaign, command, conditions, stores, sessions = [] } = manifest;
  const configurations = plan.configurations.map(
    ({ hash, configuration: { target, workload, traffic, load, extent } }) => {
      const length = "duration_s" in extent ? `${extent.duration_s} s` : `${extent.requests} requests`;
      const rounds = manifest.adaptive?.rounds[hash];
      const runs = rounds === undefined ? "" : `, ${rounds} runs`;
      return `${target.label}: ${workload.id}, ${traffic} traffic, ${loadText(load)}, ${length}${runs}`;
    },
  );
  return [
    `# Campaign ${campaign}`,
    "",
    `Status: ${manifest.status}. ${runsText(manifest)} of each of ${plan.configurations.length} configurations, ${plan.order}, ${plan.warmup_s} s of warm-up before each (discarded).`,
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
    ...list("Concluded", manifest.adaptive?.ended?.concluded ?? []),
    ...list("Not concluded", manifest.adaptive?.ended?.not_concluded ?? []),
    ...list(
      "Stores",
      Object.entries(stores).map(
        ([id, { version, embedded }]) => `${id} ${version}${embedded ? " (embedded)" : ""}`,
      ),
    ),
    // One session is the rule, and says nothing.
    ...list(
      "Sessions",
      sessions.length < 2
        ? []
        : sessions.map(({ started_at, finished_at }) => `${started_at} to ${finished_at ?? "it was killed"}`),
    ),
    ...list(
      "Skipped",
      plan.skips.map(({ asked, reason }) => `${asked}: ${reason}`),
    ),
    ...list("To know before reading figures", [...plan.notes, ...conditions]),
    "`report/index.html` is the report, `report/summary.csv` its table; each `*_runN.json` is one run.",
    "",
  ].join("\n");
}
