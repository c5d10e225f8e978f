import type { Target } from "../../src/contract/target.js";
import { resolveTarget } from "../../src/targets/resolve.js";

/** The target of a text that names one. @param available stores that are there; all unless given */
export function targetOf(text: string, available?: (store: string) => boolean | string): Target {
  const resolution = resolveTarget(text, available);
  if ("skip" in resolution) throw new Error(resolution.skip);
  return resolution.target;
}
