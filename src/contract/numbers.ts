export const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The sums of these members over all parts; one that a part does not have counts as 0. */
export const totals = <Name extends string>(
  names: readonly Name[],
  parts: readonly { readonly [Each in Name]?: number | undefined }[],
): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, sum(parts.map((part) => part[name] ?? 0))])) as Record<
    Name,
    number
  >;

/** By how much these members have grown; one that is absent counts as 0. */
export const grown = <Name extends string>(
  names: readonly Name[],
  from: { readonly [Each in Name]?: number | undefined },
  to: { readonly [Each in Name]?: number | undefined },
): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, (to[name] ?? 0) - (from[name] ?? 0)])) as Record<
    Name,
    number
  >;

export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** The value in the middle, or the mean of the two there; NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [Math.floor((sorted.length - 1) / 2), Math.ceil((sorted.length - 1) / 2)];
  return mean([sorted[low] ?? Number.NaN, sorted[high] ?? Number.NaN]);
}

export const toTwoDigits = (value: number): number => Number(value.toPrecision(2));

export const toThreeDigits = (value: number): number => Number(value.toPrecision(3));
