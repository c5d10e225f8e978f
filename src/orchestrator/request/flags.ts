import { type Command, Option } from "commander";
import { faultActionIds, namedFaults } from "../../contract/faults.js";
import { profiles } from "../../traffic/profiles.js";
import { CAMPAIGN_NAME } from "../ui/command-text.js";
import { createCommand, parseCommandLine } from "./command-line.js";
import { PRESETS } from "./presets.js";
import type { Layer, SettingValue } from "./setting-layers.js";
import { GROUPS, type Setting, settingOf } from "./settings.js";

/** A table in the help: names on the left, summaries on the right. */
function summaryTable(title: string, things: readonly { id: string; summary: string }[]): string {
  const width = Math.max(...things.map(({ id }) => id.length));
  return [title, ...things.map(({ id, summary }) => `  ${id.padEnd(width)}  ${summary}`)].join("\n");
}

const AFTER = `
Targets:  client[~version][@store][:topology][+option…], e.g. ioredis, ioredis@valkey, iovalkey:cluster, ioredis~5.6.1
Groups:   all, standalone, cluster (valkey-glide, iovalkey, ioredis), controls (none, memory)

${summaryTable("Presets:", PRESETS)}

${summaryTable("Traffic:", profiles)}

${summaryTable("Faults, NAME[@START[+LENGTH]] or ACTION:ROLE[@START[+LENGTH]], e.g. pause:store-1@5s+2s:", namedFaults)}
  Actions: ${faultActionIds.join(", ")}
  Roles: store, service, server (all of them), or one of them, e.g. store-1

Examples:
  ${CAMPAIGN_NAME} --quick                                    a first report in four minutes
  ${CAMPAIGN_NAME} --clients all --concurrency "50 100 500"   all clients, both topologies
  ${CAMPAIGN_NAME} --clients "iovalkey,ioredis@valkey" --runs 10 --duration-mode fixed30
  ${CAMPAIGN_NAME} --clients standalone --workload both --complexity 20
  ${CAMPAIGN_NAME} --clients ioredis --traffic fixed --points 100 --window 60
  ${CAMPAIGN_NAME} --clients ioredis --limiter rate-limiter-flexible~7.1.1,rate-limiter-flexible~11.4.0
  ${CAMPAIGN_NAME} --config campaign.yaml --dry-run           the plan of a file, and its duration

Exit codes: 0 done, 2 bad usage, 3 environment not fit, 4 a run failed, or a target only
            failed its load, 5 some runs are invalid, 6 a threshold was missed, 130 interrupted`;

/** For a flag that can be given several times. */
export const joined = (text: string, before?: string): string =>
  before === undefined ? text : `${before},${text}`;

function optionOf(
  { key, value, help, variable, defaultValue, defaultText, repeatable }: Setting,
  ownDefault?: string,
): Option {
  const isQuoted = defaultValue !== undefined && /\s/.test(defaultValue);
  const usual = isQuoted ? JSON.stringify(defaultValue) : (defaultText ?? defaultValue);
  const shownDefault = ownDefault || usual;
  const notes = [
    ...(shownDefault === undefined ? [] : [`default: ${shownDefault}`]),
    ...(variable ? [`also ${variable}`] : []),
  ];
  const words = notes.length > 0 ? `${help} (${notes.join("; ")})` : help;
  const option = new Option(value ? `--${key} ${value}` : `--${key}`, words);
  return repeatable ? option.argParser(joined) : option;
}

/** Settings of a campaign that another command takes, by key, with the defaults that it has for them. */
export type TakenSettings = Readonly<Record<string, string | undefined>>;

export const noDefaults = (keys: readonly string[]): TakenSettings =>
  Object.fromEntries(keys.map((key) => [key, undefined]));

export function addSettings(command: Command, taken: TakenSettings): Command {
  for (const [key, ownDefault] of Object.entries(taken))
    command.addOption(optionOf(settingOf(key), ownDefault));
  return command;
}

/** The flags of a campaign with these settings as given, or as the command has them by default. */
export function takenFlags(command: Command, taken: TakenSettings): string[] {
  return Object.entries(taken).flatMap(([key, ownDefault]) => {
    const given: unknown = command.getOptionValue(new Option(`--${key} <value>`).attributeName());
    if (given === true) return [`--${key}`];
    const text = given === undefined ? ownDefault : String(given);
    return text ? [`--${key}`, text] : [];
  });
}

/** The flags of a campaign for commander, generated from the list of settings. */
export function campaignCommand(): Command {
  const command = createCommand(CAMPAIGN_NAME).description(
    "Measures rate limiters: every configuration several times, interleaved, with a report.",
  );
  for (const { title, settings } of GROUPS) {
    command.optionsGroup(title);
    for (const setting of settings) command.addOption(optionOf(setting));
  }
  return command.addHelpText("after", AFTER);
}

/**
 * The settings that the flags give.
 * @returns undefined if the flags asked for help, which has been printed
 * @throws usageError in one line
 */
export function flagLayer(argv: readonly string[]): Layer | undefined {
  const command = parseCommandLine(campaignCommand(), argv);
  if (!command) return undefined;
  const layer = new Map<string, SettingValue>();
  for (const option of command.options) {
    const found: unknown = command.getOptionValue(option.attributeName());
    // Commander keeps a flag that begins with --no- as the opposite of what it switches off.
    const value = option.negate ? found === false || undefined : found;
    if (value !== undefined) layer.set(option.name(), { source: `--${option.name()}`, value: String(value) });
  }
  return layer;
}
