import type { Output } from "./types.js";
/** Whether somebody can be asked: what is typed and what is shown are both a terminal's. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true;

/** A terminal that nobody told its size says 0, as under some container engines: it counts as 80 by 24. */
export function ensureSize(output: Output): void {
  const assume = () => {
    if (!output.isTTY) return;
    output.columns ||= 80;
    output.rows ||= 24;
  };
  assume();
  output.on?.("resize", assume);
}
