import { usageError } from "../../kit/errors.js";

/** Collects the values of a flag that can be given several times. */
export const several = (value: string, earlier: readonly string[] = []): string[] => [
  ...earlier,
  value,
];

/** A whole number within these bounds. @throws usageError */
export function numberOf(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw usageError(`${flag} ${JSON.stringify(text.slice(0, 40))}: give ${least} to ${most}`);
}
