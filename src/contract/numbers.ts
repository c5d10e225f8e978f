export const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The arithmetic mean; NaN without values. */
export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** The value in the middle, or the mean of the two there; NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [Math.floor((sorted.length - 1) / 2), Math.ceil((sorted.length - 1) / 2)];
  return mean([sorted[low] ?? Number.NaN, sorted[high] ?? Number.NaN]);
}

/** A number with at most two significant digits. */
export const toTwoDigits = (value: number): number => Number(value.toPrecision(2));

/** A number with at most three significant digits. */
export const toThreeDigits = (value: number): number => Number(value.toPrecision(3));
