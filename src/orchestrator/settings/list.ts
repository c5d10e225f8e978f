import { how } from "./how.js";
import { telling } from "./telling.js";
import type { Setting, SettingGroup } from "./types.js";
import { what } from "./what.js";
import { where } from "./where.js";

export const GROUPS: readonly SettingGroup[] = [what, how, where, telling];

export const SETTINGS: readonly Setting[] = GROUPS.flatMap(({ settings }) => settings);

/** @throws Error for a key that no list has: a defect of ours */
export function settingOf(key: string): Setting {
  const found = SETTINGS.find((setting) => setting.key === key);
  if (!found) throw new Error(`there is no setting ${key}`);
  return found;
}

/** Those that a campaign file may hold. */
export const FILE_SETTINGS: readonly Setting[] = SETTINGS.filter(
  ({ secret, flagOnly }) => !(secret || flagOnly),
);
