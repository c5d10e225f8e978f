import type { z } from "zod";
import { definedOnly } from "../../kit/defined-only.js";

/** A value that a setting can have, for the completion of shells and for the menu. */
export type SettingChoice = {
  value: string;
  /** What the menu shows in place of the value. */
  label?: string;
  hint?: string;
};

/** A variable of single runs, with the value of a setting. */
export interface SingleRunVariable {
  name: string;
  schema: z.ZodType<string>;
  help?: string;
  /** The variable's default, where it differs from the setting's. */
  defaultValue?: string;
  defaultText?: string;
  /** The setting's value for the text of a variable that has another form. */
  toValue?: (text: string) => string;
}

/**
 * A setting of a campaign: the flag `--key`, `key:` in a campaign file, and sometimes a variable.
 * Flags, help, files, environment, completion, menu and resume all read the list of settings. A new
 * setting also needs a member of `Request`, and its reading in `parse-request.ts` or in the file of
 * its topic: docs/extending.md has the steps.
 */
export interface Setting {
  /** The flag without its dashes, and the key in a campaign file, e.g. `duration-mode`. */
  key: string;
  /** Placeholder of the value in the help, e.g. `<n>`; absent for a switch. */
  value?: string;
  help: string;
  defaultValue?: string;
  /** How the help shows a default that is not a value of the setting. */
  defaultText?: string;
  /** An environment variable that sets it too, for campaigns and single runs. */
  variable?: string;
  variableHelp?: string;
  singleRun?: SingleRunVariable;
  /** Whether it can be given several times. The values are joined by commas. */
  repeatable?: true;
  /** Whether its values may hold commas, so that several are joined as a JSON list. */
  isExact?: true;
  /** Values to offer in completion and in the menu; others may be valid too. */
  choices?: () => readonly SettingChoice[];
  /** Whether it does not affect what is measured, so that the manifest does not record it. */
  incidental?: true;
  /**
   * Whether a resumed campaign accepts the setting as a flag, or also as a variable where the
   * manifest does not record it (it may hold a password). Any other flag would contradict the plan.
   */
  onResume?: "flag" | "flag or variable";
  /** Whether its value is never printed, stored or read from a file. */
  secret?: true;
  /** Whether only the command line can set it. */
  flagOnly?: true;
}

/** A group of settings under one topic of the help, which `help TOPIC` prints. */
export const group = (topic: string, title: string, settings: readonly Setting[]) => ({
  topic,
  title,
  settings,
});

export const ids = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);
export const valuesOnly = (values: readonly string[]): SettingChoice[] =>
  values.map((value) => ({ value }));
export const explained = (list: readonly { id: string; summary: string }[]): SettingChoice[] =>
  list.map(({ id, summary }) => ({ value: id, hint: summary }));

/**
 * A setting with the name of its flag.
 * @param name the flag with the placeholder of its value, e.g. `rate <list>`. The placeholder
 *   `<list>` says that the flag can be given several times.
 */
export function flag(
  name: string,
  help: string,
  more: Omit<Setting, "key" | "value" | "help"> = {},
): Setting {
  const [key = "", value] = name.split(" ");
  if (value === undefined) return { key, help, ...more };
  const setting: Setting = { key, value, help };
  if (value === "<list>") setting.repeatable = true;
  return { ...setting, ...more };
}

/** A setting whose variable has the same name, e.g. `store-cpus` and `STORE_CPUS`. */
export const cap = (key: string, value: string, help: string, defaultText?: string): Setting =>
  definedOnly({
    key,
    value,
    help,
    defaultText,
    variable: key.toUpperCase().replace("-", "_"),
  });
