import type { Plan } from "../../contract/plan.js";
import { definedOnly } from "../../kit/defined-only.js";
import { costOfOrder, decidable } from "../plan/decidable.js";
import { estimateRange, type Overheads } from "../plan/estimate.js";
import type { EventLog } from "../ui/event-log.js";

/**
 * Reports what will be measured, where, and how long it takes.
 * @param choice a text on the runtime that was chosen, and why
 */
export function announceCampaign(
  opened: { campaign: string; folder: string; runtime: string },
  choice: string,
  plan: Plan,
  overheads: Overheads,
  eventLog: EventLog,
): void {
  eventLog.info(choice);
  for (const { asked, reason } of plan.skips) eventLog.info(`skipped ${asked}: ${reason}`);
  for (const note of [...plan.notes, ...(plan.sources ?? [])]) eventLog.info(`note: ${note}`);
  for (const line of costOfOrder(plan, overheads)) eventLog.info(line);

  const { lines, warnings } = decidable(plan);
  for (const line of lines) {
    if (warnings.includes(line)) eventLog.warn(line);
    else eventLog.info(line);
  }

  const { seconds, at_least: least } = estimateRange(plan, overheads);
  const at_least = least && { runs: least.runs, estimate_s: least.seconds };
  eventLog.emit({
    event: "campaign",
    ...opened,
    runs: plan.runs.length,
    ...definedOnly({
      objectives: plan.max_rate?.objectives,
      margin_percent: plan.margin_percent,
    }),
    configurations: plan.configurations,
    runs_per_configuration: plan.runs_per_configuration,
    order: plan.order,
    seed: plan.seed,
    estimate_s: seconds,
    ...definedOnly({ at_least }),
    skips: plan.skips,
  });
}
