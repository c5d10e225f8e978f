import type { Caps } from "../../runtimes/types.js";

/** What each kind of role may use of the machine. */
export interface RoleCaps {
  store: Caps;
  server: Caps;
  generator: Caps;
}

/** The CPUs of `0-1,3`. */
export function coresOf(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
