import type { Schedule } from "../../contract/schedule.js";
import type { Evidence, Finding, Rule } from "../evidence.js";

/** How far the sends may be from the offered rate, as a share of it. */
const RATE_TOLERANCE = 0.01;
/** The p99 of send lateness may always be so much, and otherwise a tenth of the p99 of the latency. */
const LATENESS_MS = 1;
const LATENESS_SHARE = 0.1;
/** From this share of sends that found no free connection on, it was not the generator that could not keep up. */
const BLOCKED_SHARE = 0.01;

const invalid = (text: string): Finding => ({ severity: "invalid", text: `schedule not kept: ${text}` });
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

/** Sends that waited for a connection were held up by the server, or by too small a pool; others by the generator. */
function whoseFault({ request, requests }: Evidence, schedule: Schedule): string {
  const { offered, blocked, rate_per_second } = schedule;
  if (blocked / offered < BLOCKED_SHARE)
    return "the generator could not keep up (more WORKERS, or a free CPU)";
  const busy = `all ${request.connections} connections were busy for ${percent(blocked, offered)} of the sends`;
  return `saturated: ${rate_per_second}/s were offered, ${requests.average.toFixed(0)}/s answered, and ${busy}`;
}

/** M5: the offered rate was kept. */
export const scheduleKept: Rule = {
  id: "M5",
  check(evidence) {
    const { schedule, latency, request } = evidence;
    if (!schedule) {
      // A closed loop has none to keep.
      return request.rate_per_second === undefined ? undefined : invalid("there is no record of it");
    }
    const { offered, sent, dropped, unsent, lateness_ms } = schedule;
    if (offered === 0) return invalid("no send fell due in the window");
    if (1 - sent / offered > RATE_TOLERANCE) {
      const lost = `${percent(offered - sent, offered)} of ${offered} requests were never sent (${dropped} dropped, ${unsent} waiting at the end)`;
      return invalid(`${whoseFault(evidence, schedule)}; ${lost}`);
    }
    const late = lateness_ms?.p99 ?? 0;
    const admitted = Math.max(LATENESS_MS, LATENESS_SHARE * (latency?.p99 ?? 0));
    if (late <= admitted) return undefined;
    const text = `the p99 of send lateness is ${late.toFixed(2)} ms, ${admitted.toFixed(2)} ms are admitted`;
    return invalid(`${whoseFault(evidence, schedule)}; ${text}`);
  },
};
