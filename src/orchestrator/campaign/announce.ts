import type { Plan } from "../../contract/plan.js";
import { rangeOf } from "../adaptive/estimate-range.js";
import type { Overheads } from "../plan/estimate.js";
import type { EventLog } from "../ui/event-log.js";

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
  eventLog: EventLog,
): void {
  eventLog.info(choice);
  for (const { asked, reason } of plan.skips) eventLog.info(`skipped ${asked}: ${reason}`);
  for (const note of plan.notes) eventLog.info(`note: ${note}`);
  const { seconds, at_least } = rangeOf(plan, overheads);
  eventLog.emit({
    event: "campaign",
    ...opened,
    runs: plan.runs.length,
    configurations: plan.configurations,
    runs_per_configuration: plan.runs_per_configuration,
    order: plan.order,
    seed: plan.seed,
    estimate_s: seconds,
    ...(at_least ? { at_least: { runs: at_least.runs, estimate_s: at_least.seconds } } : {}),
    skips: plan.skips,
  });
}
