import { faultActionIds, faultKinds } from "../../contract/fault-actions.js";
import { namedFaults } from "../../contract/named-faults.js";
import { groups } from "../../targets/target-groups.js";
import { profiles } from "../../traffic/profiles.js";
import { wrap } from "../ui/text.js";
import { ORIGINAL, PRESETS } from "./presets.js";
import type { Setting } from "./setting-types.js";
import { GROUPS, settingOf } from "./settings.js";

const COLUMNS = 80;
/** The width of the column of names. A longer name stands on a line of its own. */
const NAME_COLUMNS = 25;

/** The flags that the original had, which the overview shows. */
const FIRST_FLAGS = ["clients", "duration-mode", "concurrency", "workload", "runs"];

/** The lines of a table of names and meanings. */
export function helpTable(
  entries: readonly (readonly [name: string, meaning: string])[],
): string[] {
  const width = Math.min(NAME_COLUMNS, Math.max(...entries.map(([name]) => name.length)));
  const indent = " ".repeat(width + 2);
  return entries.flatMap(([name, meaning]) =>
    name.length > width
      ? [`  ${name}`, ...wrap(`  ${indent}${meaning}`, COLUMNS, "")]
      : wrap(`  ${name.padEnd(width)}  ${meaning}`, COLUMNS, indent),
  );
}

/**
 * The meaning of a flag, with its default and its variable.
 * @param ownDefault the default of the command that takes the flag, where it has another one
 */
export function meaningOf(
  {
    help,
    variable,
    defaultValue,
    defaultText,
  }: Pick<Setting, "help" | "variable" | "defaultValue" | "defaultText">,
  ownDefault?: string,
): string {
  const isQuoted = defaultValue !== undefined && /\s/.test(defaultValue);
  const settingDefault = isQuoted ? JSON.stringify(defaultValue) : (defaultText ?? defaultValue);
  const shownDefault = ownDefault || settingDefault;

  const notes: string[] = [];
  if (shownDefault !== undefined) notes.push(`default: ${shownDefault}`);
  if (variable) notes.push(`also ${variable}`);
  return notes.length > 0 ? `${help} (${notes.join("; ")})` : help;
}

const flagTable = (settings: readonly Setting[]): string[] =>
  helpTable(
    settings.map((setting) => [
      setting.value ? `--${setting.key} ${setting.value}` : `--${setting.key}`,
      meaningOf(setting),
    ]),
  );

const summaryTable = (
  title: string,
  entries: readonly { id: string; summary: string }[],
): string[] => ["", title, ...helpTable(entries.map(({ id, summary }) => [id, summary]))];

const listed = (names: readonly string[] = []): string => names.join(", ");

const TARGETS = [
  "Targets: client[~version][@store[~version]][:topology][+option…]",
  "         e.g. ioredis, ioredis@valkey, iovalkey:cluster, ioredis~5.6.1",
  `Groups:  all, standalone, cluster (${listed(groups.standalone)}),`,
  `         controls (${listed(groups.controls)})`,
];

/** The lines after the flags of a topic, by its name. */
const DETAILS: Readonly<Record<string, readonly string[]>> = {
  targets: ["", ...TARGETS],
  traffic: summaryTable("Traffic:", profiles),
  measure: summaryTable("Presets:", PRESETS),
  faults: [
    ...summaryTable("Faults, as NAME[@START[+LENGTH]]:", namedFaults),
    "",
    "Or ACTION:ROLE[@START[+LENGTH]], e.g. pause:store-1@5s+2s",
    ...helpTable([
      ["ACTION", faultActionIds.join(", ")],
      ["ROLE", `${faultKinds.join(", ")} (all of them), or one of them, e.g. store-1`],
    ]),
  ],
};

export const topics: readonly string[] = GROUPS.map(({ topic }) => topic);

function overview(name: string, helpCommand: string): string[] {
  return [
    `Usage: ${name} [flags]`,
    "",
    "Measures rate limiters: every configuration several times, by turns, with a",
    "report.",
    "",
    "What to do:",
    `  ${name} --quick      a first report in five minutes`,
    `  ${name}              in a terminal: asks what to measure`,
    `  ${name} … --dry-run  the plan and its time; starts nothing`,
    "",
    "Flags:",
    ...flagTable(FIRST_FLAGS.map(settingOf)),
    "",
    "Without another flag of the plan (also --runs), what is missing of the first",
    `four is ${ORIGINAL.clients}, ${ORIGINAL["duration-mode"]}, "${ORIGINAL.concurrency}" and ${ORIGINAL.workload}, as in the original.`,
    "",
    ...TARGETS,
    "",
    "Examples:",
    ...[
      '--clients all --concurrency "50 100 500"',
      "--clients iovalkey,ioredis@valkey --duration-mode fixed30",
      "--clients standalone --workload both --complexity 20",
      "--clients ioredis --traffic fixed --points 100",
      "--clients ioredis --fault store-restart",
      "--clients ioredis,iovalkey --runs auto --budget 20m",
      "--config campaign.yaml",
    ].map((flags) => `  ${name} ${flags}`),
    "",
    `All flags are in ${helpCommand} TOPIC:`,
    ...helpTable(GROUPS.map(({ topic, title }) => [topic, title])),
    "",
    "Exit codes: 0 done, 1 a defect of this program, 2 bad usage, 3 environment not",
    "fit, 4 a run failed or a target only failed its load, 5 some runs are invalid,",
    "6 a threshold was missed, 130 interrupted, 143 ended by SIGTERM or a hang-up",
  ];
}

/**
 * The help of a campaign. scripts/help/ holds the same text for scripts/run-all.sh, which prints it
 * before anything is installed.
 * @param name the command line that starts a campaign
 * @param helpCommand the command line that takes a topic
 */
export function campaignHelp(name: string, helpCommand: string, topic?: string): string {
  const group = GROUPS.find((candidate) => candidate.topic === topic);
  const lines = group
    ? [
        `Flags of ${name}: ${group.title}`,
        "",
        ...flagTable(group.settings),
        ...(DETAILS[group.topic] ?? []),
      ]
    : overview(name, helpCommand);
  return `${lines.join("\n")}\n`;
}
