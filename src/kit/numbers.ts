export const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

export const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Counts by name. An absent member counts as 0. */
type Counts<Name extends string> = { readonly [Each in Name]?: number | undefined };

const byName = <Name extends string>(names: readonly Name[], countOf: (name: Name) => number) =>
  Object.fromEntries(names.map((name) => [name, countOf(name)])) as Record<Name, number>;

/** The sums of the named members over all parts. */
export const totals = <Name extends string>(
  names: readonly Name[],
  parts: readonly Counts<Name>[],
): Record<Name, number> => byName(names, (name) => sum(parts.map((part) => part[name] ?? 0)));

/** By how much the named members have grown. */
export const grown = <Name extends string>(
  names: readonly Name[],
  from: Counts<Name>,
  to: Counts<Name>,
): Record<Name, number> => byName(names, (name) => (to[name] ?? 0) - (from[name] ?? 0));

export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** The middle value, or the mean of the two middle ones; NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [Math.floor((sorted.length - 1) / 2), Math.ceil((sorted.length - 1) / 2)];
  return mean([sorted[low] ?? Number.NaN, sorted[high] ?? Number.NaN]);
}

/** A number as the report writes counts and rates, e.g. `1,000` or `12,345.6`. */
export const withThousands = (value: number): string =>
  value.toLocaleString("en-US", { maximumFractionDigits: 6 });

export const toTwoDigits = (value: number): number => Number(value.toPrecision(2));

export const toThreeDigits = (value: number): number => Number(value.toPrecision(3));

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** A small number as a word, e.g. `six`. */
export const numberWord = (value: number): string => WORDS[value] ?? String(value);
