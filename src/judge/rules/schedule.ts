import type { Schedule } from "../../contract/schedule.js";
import type { Evidence, Finding, Rule } from "../evidence.js";

/** Allowed share of sends that are missing. */
const RATE_TOLERANCE = 0.01;
/** Allowed p99 of send lateness: this time, or this share of the p99 latency if that is more. */
const LATENESS_MS = 1;
const LATENESS_SHARE = 0.1;
/** From this share of blocked sends on the generator is not the cause. */
const BLOCKED_SHARE = 0.01;

const invalid = (text: string): Finding => ({ severity: "invalid", text: `schedule not kept: ${text}` });
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

/** Sends that waited for a connection were delayed by the server or too few connections; others by the generator. */
function cause({ request, requests }: Evidence, schedule: Schedule): string {
  const { offered, blocked, rate_per_second } = schedule;
  if (blocked / offered < BLOCKED_SHARE)
    return "the generator could not keep up (more WORKERS, or a free CPU)";
  const busy = `all ${request.load.connections} connections were busy for ${percent(blocked, offered)} of the sends`;
  return `saturated: ${rate_per_second}/s were offered, ${requests.average.toFixed(0)}/s answered, and ${busy}`;
}

/** M5: the offered rate was kept. */
export const scheduleKept: Rule = {
  id: "M5",
  check(evidence) {
    const { schedule, latency, request } = evidence;
    if (!schedule) {
      // A closed loop has no schedule.
      return request.load.model === "closed" ? undefined : invalid("it was not recorded");
    }
    const { offered, sent, dropped, unsent, lateness_ms } = schedule;
    if (offered === 0) return invalid("no send fell due in the window");
    if (1 - sent / offered > RATE_TOLERANCE) {
      const lost = `${percent(offered - sent, offered)} of ${offered} requests were never sent (${dropped} dropped, ${unsent} waiting at the end)`;
      return invalid(`${cause(evidence, schedule)}; ${lost}`);
    }
    const late = lateness_ms?.p99 ?? 0;
    const allowed = Math.max(LATENESS_MS, LATENESS_SHARE * (latency?.p99 ?? 0));
    if (late <= allowed) return undefined;
    const text = `the p99 of send lateness is ${late.toFixed(2)} ms, ${allowed.toFixed(2)} ms are allowed`;
    return invalid(`${cause(evidence, schedule)}; ${text}`);
  },
};
