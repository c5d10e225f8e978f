import { type Command, Option } from "commander";
import { CAMPAIGN_COMMAND, CAMPAIGN_NAME, HELP_COMMAND } from "../../kit/command-text.js";
import { createCommand, parseCommandLine } from "./command-line.js";
import { campaignHelp, meaningOf } from "./flag-help.js";
import type { SettingLayer, SettingValue } from "./setting-layers.js";
import type { Setting } from "./setting-types.js";
import { joinedExactly } from "./setting-values.js";
import { SETTINGS, settingOf } from "./settings.js";

/** Joins the values of a flag that is given several times. */
export const joined = (text: string, earlierTexts?: string): string =>
  earlierTexts === undefined ? text : `${earlierTexts},${text}`;

export function optionOf(setting: Setting, ownDefault?: string): Option {
  const { key, value, repeatable, isExact } = setting;
  const option = new Option(
    value ? `--${key} ${value}` : `--${key}`,
    meaningOf(setting, ownDefault),
  );
  // Commander takes a flag that begins with --no- for the opposite of another one. Here it is a flag
  // of its own.
  option.negate = false;
  return repeatable ? option.argParser(isExact ? joinedExactly : joined) : option;
}

/** Settings of a campaign that another command takes, by key, with the command's own defaults. */
export type TakenSettings = Readonly<Record<string, string | undefined>>;

export const noDefaults = (keys: readonly string[]): TakenSettings =>
  Object.fromEntries(keys.map((key) => [key, undefined]));

export function addSettings(command: Command, taken: TakenSettings): Command {
  for (const [key, ownDefault] of Object.entries(taken))
    command.addOption(optionOf(settingOf(key), ownDefault));
  return command;
}

/** The flags of a campaign for the settings of a command, with its own defaults. */
export function takenFlags(command: Command, taken: TakenSettings): string[] {
  return Object.entries(taken).flatMap(([key, ownDefault]) => {
    const value: unknown = command.getOptionValue(new Option(`--${key} <value>`).attributeName());
    if (value === true) return [`--${key}`];
    const text = value === undefined ? ownDefault : String(value);
    return text ? [`--${key}`, text] : [];
  });
}

/** The command that starts a campaign, with a flag for each setting. */
export function campaignCommand(): Command {
  const command = createCommand(CAMPAIGN_NAME).description(
    "Measures rate limiters: every configuration several times, by turns, with a report.",
  );
  for (const setting of SETTINGS) command.addOption(optionOf(setting));
  return command.configureHelp({ formatHelp: () => campaignHelp(CAMPAIGN_COMMAND, HELP_COMMAND) });
}

/** The settings of the flags; undefined after help. @throws usageError in one line */
export function flagLayer(argv: readonly string[]): SettingLayer | undefined {
  const command = parseCommandLine(campaignCommand(), argv);
  return command && layerOf(command);
}

/** The options that a parsed command line has, by name. */
export function layerOf(command: Command): SettingLayer {
  const layer = new Map<string, SettingValue>();
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (value !== undefined)
      layer.set(option.name(), { source: `--${option.name()}`, value: String(value) });
  }
  return layer;
}
