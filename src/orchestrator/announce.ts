import type { Plan } from "../contract/plan.js";
import { certainRuns } from "./adaptive/looks.js";
import { estimateS, type Overheads } from "./estimate.js";
import type { Journal } from "./journal.js";

interface Opened {
  campaign: string;
  folder: string;
  runtime: string;
  /** Which runtime was taken, and why. */
  choice: string;
}

/** What will be measured, where, and how long it takes. */
export function announce(
  { choice, ...opened }: Opened,
  plan: Plan,
  overheads: Overheads,
  journal: Journal,
): void {
  journal.say(choice);
  for (const { asked, reason } of plan.skips) journal.say(`skipped ${asked}: ${reason}`);
  for (const note of plan.notes) journal.say(`note: ${note}`);
  const most_s = estimateS(plan, overheads);
  const budget_s = plan.adaptive?.budget_s ?? most_s;
  const certain = { ...plan, runs: certainRuns(plan) };
  const least_s = Math.min(estimateS(certain, overheads), budget_s);
  journal.tell({
    event: "campaign",
    ...opened,
    runs: plan.runs.length,
    configurations: plan.configurations,
    runs_per_configuration: plan.runs_per_configuration,
    order: plan.order,
    seed: plan.seed,
    estimate_s: Math.round(Math.min(most_s, budget_s)),
    ...(plan.adaptive ? { at_least: { runs: certain.runs.length, estimate_s: Math.round(least_s) } } : {}),
    skips: plan.skips,
  });
}
