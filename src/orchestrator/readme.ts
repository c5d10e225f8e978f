import { loadText } from "../contract/configuration.js";
import type { Manifest } from "../contract/manifest.js";

const list = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [`## ${title}`, "", ...lines.map((line) => `- ${line}`), ""] : [];

/** The README of a campaign's folder: what ran, and how to repeat it. */
export function campaignReadme(manifest: Manifest): string {
  const { plan, machine, campaign, command, conditions, stores, sessions = [] } = manifest;
  const configurations = plan.configurations.map(
    ({ configuration: { target, workload, traffic, load, extent } }) => {
      const length = "duration_s" in extent ? `${extent.duration_s} s` : `${extent.requests} requests`;
      return `${target.label}: ${workload.id}, ${traffic} traffic, ${loadText(load)}, ${length}`;
    },
  );
  return [
    `# Campaign ${campaign}`,
    "",
    `Status: ${manifest.status}. ${plan.runs.length} runs: ${plan.runs_per_configuration} of each of ${plan.configurations.length} configurations, ${plan.order}, ${plan.warmup_s} s of warm-up before each (discarded).`,
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
