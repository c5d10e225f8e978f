import type { Output } from "./screen-types.js";

/** Whether the user can be asked: standard input and output are both terminals. */
export const isInteractive = (): boolean =>
  process.stdin.isTTY === true && process.stdout.isTTY === true;

/**
 * Gives a terminal of unknown size 80 columns and 24 rows. Under some container engines a terminal
 * reports 0 by 0.
 */
export function ensureSize(output: Output): void {
  const setMissing = () => {
    if (!output.isTTY) return;
    output.columns ||= 80;
    output.rows ||= 24;
  };
  setMissing();
  output.on?.("resize", setMissing);
}
