import type { Environment } from "../../contract/env.js";
import { usageError } from "../../contract/errors.js";
import { SETTINGS, settingOf } from "./settings.js";

/** What was said, and where: messages name the flag, the variable or the line of the file. */
export interface SettingValue {
  source: string;
  value: string;
}

/** What one place says: settings by their key. A switch says `true` or `false`. */
export type Layer = ReadonlyMap<string, SettingValue>;

/** Longest text of a value; lists of targets are long, file names are not. */
const MAX_LENGTH = 4096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** What the environment says, of all settings that have a variable. An empty one is unset. */
export function environmentLayer(env: Environment): Layer {
  return new Map(
    SETTINGS.flatMap(({ key, variable }) => {
      const value = variable && env[variable];
      return value ? [[key, { source: variable, value }]] : [];
    }),
  );
}

/** What was said about a campaign, of all places together. */
export class Settings {
  readonly #said = new Map<string, SettingValue>();

  /**
   * @param places each wins over those before it
   * @param notices told where one wins over another that says something else
   * @param preset gives way without a word
   * @throws usageError for a text that no setting can have
   */
  constructor(places: readonly Layer[], notices: string[], preset: Layer = new Map()) {
    for (const [key, said] of preset) this.#said.set(key, said);
    for (const { key, secret } of SETTINGS) {
      const voices = places.flatMap((place) => place.get(key) ?? []);
      for (const voice of voices) checkText(voice, secret === true);
      const winner = voices.pop();
      if (!winner) continue;
      this.#said.set(key, winner);
      for (const loser of voices.filter(({ value }) => value !== winner.value))
        notices.push(secret ? `${winner.source} wins over ${loser.source}` : wins(winner, loser));
    }
  }

  /** What was said, or else the default; undefined where there is none. */
  find(key: string): SettingValue | undefined {
    const { fallback } = settingOf(key);
    return (
      this.#said.get(key) ?? (fallback === undefined ? undefined : { source: `--${key}`, value: fallback })
    );
  }

  /** For a setting with a default. */
  get(key: string): SettingValue {
    const said = this.find(key);
    if (!said) throw new Error(`nobody said --${key}, and it has no default`);
    return said;
  }

  isOn(key: string): boolean {
    return this.find(key)?.value === "true";
  }

  /** Everything that bears on what is measured, by key: defaults too, because a later version may have others. */
  record(): Record<string, string> {
    const kept = SETTINGS.filter(({ incidental, secret, flagOnly }) => !(incidental || secret || flagOnly));
    return Object.fromEntries(
      kept.flatMap(({ key }) => {
        const said = key === "preset" ? undefined : this.find(key);
        return said ? [[key, said.value] as const] : [];
      }),
    );
  }
}

/** `--runs 5 wins over RUNS=3`, `--runs 5 wins over campaign.yaml:2 runs 3`. */
function wins(winner: SettingValue, loser: SettingValue): string {
  const text = ({ source, value }: SettingValue) =>
    /^[A-Z_]+$/.test(source) ? `${source}=${value}` : `${source} ${value}`;
  return `${text(winner)} wins over ${text(loser)}`;
}

function checkText({ source, value }: SettingValue, secret: boolean): void {
  if (value.length > MAX_LENGTH)
    throw usageError(`${source} is ${value.length} characters long: at most ${MAX_LENGTH}`);
  if (!CONTROL.test(value)) return;
  const text = secret ? "" : ` ${JSON.stringify(value.slice(0, 60))}`;
  throw usageError(`${source}${text}: no line breaks or other control characters`);
}
