import { type Command, Option } from "commander";
import { CAMPAIGN_COMMAND, CAMPAIGN_NAME, HELP_COMMAND } from "../ui/command-text.js";
import { createCommand, parseCommandLine } from "./command-line.js";
import { campaignHelp, meaningOf } from "./help.js";
import type { Layer, SettingValue } from "./setting-layers.js";
import { SETTINGS, type Setting } from "./settings.js";

function optionOf(setting: Setting): Option {
  const { key, value, repeatable } = setting;
  const option = new Option(value ? `--${key} ${value}` : `--${key}`, meaningOf(setting));
  if (repeatable)
    option.argParser((text: string, before?: string) => (before === undefined ? text : `${before},${text}`));
  return option;
}

/** The flags of a campaign for commander, generated from the list of settings. */
export function campaignCommand(): Command {
  const command = createCommand(CAMPAIGN_NAME).description(
    "Measures rate limiters: every configuration several times, interleaved, with a report.",
  );
  for (const setting of SETTINGS) command.addOption(optionOf(setting));
  return command.configureHelp({ formatHelp: () => campaignHelp(CAMPAIGN_COMMAND, HELP_COMMAND) });
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
