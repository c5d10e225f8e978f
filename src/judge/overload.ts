import type { Schedule } from "../contract/schedule.js";
import type { Evidence } from "./evidence.js";
import { isGeneratorSaturated } from "./rules/generator.js";

/** Allowed share of sends that are missing (M5). */
const RATE_TOLERANCE = 0.01;
/** From this share of blocked sends on the target is the cause, not the generator. */
const BLOCKED_SHARE = 0.01;

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

export const isRateMissed = ({ offered, sent }: Schedule): boolean =>
  offered > 0 && 1 - sent / offered > RATE_TOLERANCE;

/** Whether the offered rate was missed because of the target; a saturated generator reads late itself. */
export function isOverloaded(evidence: Evidence): boolean {
  const { schedule } = evidence;
  return (
    schedule !== undefined &&
    isRateMissed(schedule) &&
    schedule.blocked / schedule.offered >= BLOCKED_SHARE &&
    !isGeneratorSaturated(evidence)
  );
}

export function overloadText({ request, requests }: Evidence, schedule: Schedule): string {
  const { offered, blocked, rate_per_second } = schedule;
  const waited = `none of the ${request.load.connections} connections was free for ${percent(blocked, offered)} of the sends`;
  return `${rate_per_second}/s were offered, ${requests.average.toFixed(0)}/s answered, and ${waited}`;
}
