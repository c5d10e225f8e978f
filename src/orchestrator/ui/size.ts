import type { Output } from "./types.js";

/** A terminal that nobody told its size says 0, as under some container engines: it counts as 80 by 24. */
export function assumeSize(output: Output): void {
  const assume = () => {
    if (!output.isTTY) return;
    output.columns ||= 80;
    output.rows ||= 24;
  };
  assume();
  output.on?.("resize", assume);
}
