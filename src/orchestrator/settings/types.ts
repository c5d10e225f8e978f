/**
 * One thing that a user can set for a campaign: as flag `--key`, as `key:` in a campaign file, and by a variable where
 * it has one. Adding one is one entry in a list of this folder.
 */
export interface Setting {
  /** E.g. `duration-mode`: the flag without its dashes, and the key in a campaign file. */
  key: string;
  /** What a value looks like in the help, e.g. `<n>`; absent for a switch. */
  value?: string;
  help: string;
  /** Text that stands for it when nobody says anything. */
  fallback?: string;
  /** Variable of the environment that sets it too. */
  variable?: string;
  /** It may be given several times; the values are joined by commas. */
  repeatable?: true;
  /** Words that a shell can complete it to. */
  words?: () => readonly string[];
  /** It does not bear on what is measured: no campaign that repeats this one needs it. */
  incidental?: true;
  /** Its value is never printed, stored or taken from a file. */
  secret?: true;
  /** It can be said on the command line alone. */
  flagOnly?: true;
}

/** Settings that stand together in the help. */
export interface SettingGroup {
  title: string;
  settings: readonly Setting[];
}
