/** A number rounded to this many decimals. */
export const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The arithmetic mean; NaN without values. */
export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** A number with at most three significant digits. */
export const toThreeDigits = (value: number): number => Number(value.toPrecision(3));
