import type { Output } from "./screen-types.js";
/** Whether the user can be asked: standard input and output are both terminals. */
export const isInteractive = (): boolean =>
  process.stdin.isTTY === true && process.stdout.isTTY === true;

/** A terminal of unknown size reports 0 by 0, as under some container engines. It gets 80 by 24. */
export function ensureSize(output: Output): void {
  const setMissing = () => {
    if (!output.isTTY) return;
    output.columns ||= 80;
    output.rows ||= 24;
  };
  setMissing();
  output.on?.("resize", setMissing);
}
