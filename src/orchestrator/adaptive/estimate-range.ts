import type { Plan } from "../../contract/plan.js";
import { estimateS, type Overheads } from "../plan/estimate.js";

/** How long a campaign takes, about. */
export interface Range {
  /** Where runs are adaptive: at most. */
  seconds: number;
  /** What an adaptive campaign does in any case. */
  at_least?: { runs: number; seconds: number };
}

/** The estimate of a plan, from the rounds that there are in any case, or fit into the budget, to all of them. */
export function rangeOf(plan: Plan, overheads: Overheads): Range {
  const most_s = estimateS(plan, overheads);
  if (!plan.adaptive) return { seconds: Math.round(most_s) };
  const { looks, budget_s = Number.POSITIVE_INFINITY } = plan.adaptive;
  const upTo = (round: number): Plan => ({ ...plan, runs: plan.runs.filter(({ run }) => run <= round) });
  let round = looks[0] ?? 1;
  while (round > 1 && estimateS(upTo(round), overheads) > budget_s) round--;
  const least = upTo(round);
  const least_s = estimateS(least, overheads);
  return {
    // The first round is made whatever it takes.
    seconds: Math.round(Math.max(least_s, Math.min(most_s, budget_s))),
    at_least: { runs: least.runs.length, seconds: Math.round(least_s) },
  };
}
