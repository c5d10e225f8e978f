import { faults, measure } from "./measure-settings.js";
import { machines, output, programs } from "./place-settings.js";
import type { Setting } from "./setting-types.js";
import { apps, targets, traffic } from "./target-settings.js";

/** All settings by topic, in the order of the help. */
export const GROUPS = [targets, apps, traffic, measure, faults, machines, programs, output];

export const SETTINGS: readonly Setting[] = GROUPS.flatMap(({ settings }) => settings);

/** @throws Error for a key that no setting has, which is a defect */
export function settingOf(key: string): Setting {
  const setting = SETTINGS.find((candidate) => candidate.key === key);
  if (!setting) throw new Error(`there is no setting ${key}`);
  return setting;
}

/** The default of a setting. @throws Error where it has none, which is a defect */
export function defaultOf(key: string): string {
  const { defaultValue } = settingOf(key);
  if (defaultValue === undefined) throw new Error(`--${key} has no default`);
  return defaultValue;
}

/** The settings that a campaign file can have. */
export const FILE_SETTINGS: readonly Setting[] = SETTINGS.filter(
  ({ secret, flagOnly }) => !(secret || flagOnly),
);
