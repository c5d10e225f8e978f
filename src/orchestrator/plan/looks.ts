import type { Manifest } from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";

/** Fewer runs of a configuration than this show nothing. */
export const FEWEST_RUNS = 5;

/** Looks that lie nearer to the last one than this factor are left out. */
const APART = 1.15;

/**
 * The rounds after which it is decided who goes on: 5, 7, 10, 14, 20, …, each with half as many runs again as the one
 * before (√2), so that few looks share the error, and a configuration has at most that share too many.
 * @param most runs of a configuration, at least `FEWEST_RUNS`
 */
export function looksOf(most: number): number[] {
  const looks: number[] = [];
  for (let step = 0; looks.length === step; step++) {
    const look = Math.round(FEWEST_RUNS * 2 ** (step / 2));
    if (look * APART < most) looks.push(look);
  }
  return [...looks, most];
}

/** The runs of the plan that were asked for until now, or all of them. */
export function askedRuns({ plan, adaptive }: Pick<Manifest, "plan" | "adaptive">): Plan["runs"] {
  if (!adaptive) return plan.runs;
  return plan.runs.filter(({ configuration_hash: hash, run }) => run <= (adaptive.rounds[hash] ?? 0));
}

/** Whether nothing is left to be decided: a campaign may have been killed just before it would have planned more. */
export const isSettled = ({ plan, adaptive }: Pick<Manifest, "plan" | "adaptive">): boolean =>
  !plan.adaptive || adaptive?.ended !== undefined;
