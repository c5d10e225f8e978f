import { type Evidence, type Finding, invalid, type Rule, suspect } from "../evidence.js";
import { explained } from "../faults.js";
import { atLeast } from "../latency.js";
import { isOverloaded, isRateMissed, overloadText } from "../overload.js";

/** The p99 of send lateness may be this long, or this share of the p99 of latency if that is more. */
const LATENESS_MS = 1;
const SUSPECT_SHARE = 0.1;
const INVALID_SHARE = 0.5;

const notKept = (text: string): Finding => invalid(`schedule not kept: ${text}`);
const GENERATOR = "the generator could not keep up (more WORKERS, or a free CPU)";

function lateSends({ schedule, latency }: Evidence): Finding | undefined {
  const late = schedule?.lateness_ms?.p99;
  if (late === undefined || !latency) return undefined;
  const p99 = atLeast(latency, "p99");
  const beyond = (share: number): boolean => late > Math.max(LATENESS_MS, share * p99);
  if (!beyond(SUSPECT_SHARE)) return undefined;
  const text = `${GENERATOR}; the p99 of send lateness is ${late.toFixed(2)} ms, that of latency ${p99.toFixed(2)} ms`;
  return beyond(INVALID_SHARE) ? notKept(text) : suspect(`late sends: ${text}`);
}

/** M5: the offered rate was kept. */
export const scheduleKept: Rule = {
  id: "M5",
  check(evidence) {
    const { schedule, request } = evidence;
    if (!schedule) {
      // A closed loop has no schedule.
      return request.load.model === "closed" ? undefined : notKept("it was not recorded");
    }
    const { offered, sent, dropped, unsent } = schedule;
    if (offered === 0) return notKept("no send fell due in the window");
    if (!isRateMissed(schedule)) return lateSends(evidence);
    const share = ((100 * (offered - sent)) / offered).toFixed(1);
    // Connections that wait for a target with a fault are not free.
    if (evidence.faults && isOverloaded(evidence)) return explained("offered rate");
    const cause = isOverloaded(evidence) ? `saturated: ${overloadText(evidence, schedule)}` : GENERATOR;
    return notKept(
      `${cause}; ${share} % of ${offered} requests were never sent (${dropped} dropped, ${unsent} waiting at the end)`,
    );
  },
};
