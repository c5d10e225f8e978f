import type { NumberName } from "../../contract/ranges.js";
import type { Environment } from "../../kit/env.js";
import { usageError } from "../../kit/errors.js";
import { badValue, listOf, numberIn } from "./setting-values.js";
import { SETTINGS, settingOf } from "./settings.js";

/**
 * The text of a setting and its source. Messages name the source, which is the flag, the variable,
 * or the line of the file.
 */
export type SettingValue = { source: string; value: string };

/** Settings from one source, by key. The value of a switch is `true` or `false`. */
export type SettingLayer = ReadonlyMap<string, SettingValue>;

/** The most characters of a setting, which are enough for lists of targets. */
const MAX_LENGTH = 4096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** The settings that the environment gives. An empty variable counts as unset. */
export function environmentLayer(env: Environment): SettingLayer {
  return new Map(
    SETTINGS.flatMap(({ key, variable }) => {
      const value = variable && env[variable];
      return value ? [[key, { source: variable, value }]] : [];
    }),
  );
}

/** The settings of a campaign, merged from all layers and with defaults. */
export class Settings {
  readonly #values = new Map<string, SettingValue>();
  readonly #layers: readonly SettingLayer[];
  readonly #notices: string[];

  /**
   * @param layers settings of which the later ones win, with a notice
   * @param preset settings over which all layers win
   * @throws usageError
   */
  constructor(
    layers: readonly SettingLayer[],
    notices: string[],
    preset: SettingLayer = new Map(),
  ) {
    this.#layers = layers;
    this.#notices = notices;
    for (const [key, value] of preset) this.#values.set(key, value);

    for (const { key, secret } of SETTINGS) {
      const candidates = layers.flatMap((layer) => layer.get(key) ?? []);
      for (const candidate of candidates) checkText(candidate, secret === true);
      const winner = candidates.pop();
      if (!winner) continue;

      this.#values.set(key, winner);
      for (const loser of candidates.filter(({ value }) => value !== winner.value)) {
        const notice = secret
          ? `${winner.source} wins over ${loser.source}`
          : winNotice(winner, loser);
        notices.push(notice);
      }
    }
  }

  /** The value that was set, or the default; undefined where there is neither. */
  find(key: string): SettingValue | undefined {
    const setting = this.#values.get(key);
    if (setting) return setting;
    const { defaultValue } = settingOf(key);
    return defaultValue === undefined ? undefined : { source: `--${key}`, value: defaultValue };
  }

  /** The value that was set, or the default. @throws Error where there is neither */
  get(key: string): SettingValue {
    const setting = this.find(key);
    if (!setting) throw new Error(`--${key} is not set and has no default`);
    return setting;
  }

  /** The words of a list, each once; empty where it is not set. @throws usageError for no words */
  list(key: string): string[] {
    const setting = this.find(key);
    return setting ? listOf(setting.source, setting.value, this.#notices) : [];
  }

  /** A whole number. @throws usageError that names the range */
  number(key: NumberName): number {
    const { source, value } = this.get(key);
    return numberIn(key, source, value);
  }

  /** The whole numbers of a list. @throws usageError that names the range */
  numbers(key: NumberName): number[] {
    return this.list(key).map((text) => numberIn(key, this.get(key).source, text));
  }

  /** Whether a layer has the setting. Presets and defaults do not count. */
  isGiven(key: string): boolean {
    return this.#layers.some((layer) => layer.has(key));
  }

  /** Whether a layer or the preset has the setting. Defaults do not count. */
  isSet(key: string): boolean {
    return this.#values.has(key);
  }

  isOn(key: string): boolean {
    return this.find(key)?.value === "true";
  }

  /**
   * Every setting that affects what is measured, by key. Defaults are included, because a later
   * version may have others.
   */
  record(): Record<string, string> {
    const recorded = SETTINGS.filter(
      ({ key, incidental, secret, flagOnly }) =>
        !(key === "preset" || incidental || secret || flagOnly),
    );
    return Object.fromEntries(
      recorded.flatMap(({ key }) => {
        const setting = this.find(key);
        return setting ? [[key, setting.value] as const] : [];
      }),
    );
  }
}

/** A notice such as `--runs 5 wins over RUNS=3` or `--runs 5 wins over campaign.yaml:2 runs 3`. */
function winNotice(winner: SettingValue, loser: SettingValue): string {
  const text = ({ source, value }: SettingValue) => {
    const isVariable = /^[A-Z_]+$/.test(source);
    return isVariable ? `${source}=${value}` : `${source} ${value}`;
  };
  return `${text(winner)} wins over ${text(loser)}`;
}

function checkText({ source, value }: SettingValue, isSecret: boolean): void {
  if (value.length > MAX_LENGTH)
    throw usageError(`${source} is ${value.length} characters long: at most ${MAX_LENGTH}`);
  if (!CONTROL.test(value)) return;
  const text = isSecret ? "" : ` ${JSON.stringify(value.slice(0, 60))}`;
  throw usageError(`${source}${text}: no line breaks or other control characters`);
}

/** The value of a setting that takes one of several words. @throws usageError for another word */
export function oneOf<Value extends string>(
  { source, value }: SettingValue,
  valid: readonly Value[],
): Value {
  const validValue = valid.find((candidate) => candidate === value);
  if (validValue) return validValue;
  throw badValue(source, value, `give one of ${valid.join(", ")}`);
}
