import type { ApiDefect } from "../../../../contract/api-defects.js";
import { counted } from "../../../ui/text.js";
import { answersText } from "../api-answers.js";
import { type ApiCheck, broken, holding, skippedBecause } from "../api-check.js";
import { type LimitHeaders, limitHeaders } from "../limit-headers.js";
import { TRACE_WINDOWS, type Trace, tracesOf } from "../traces.js";

/** `Retry-After` counts whole seconds, so it may round up by nearly one. */
const ROUNDING_S = 1;
/** Time that sends, answers and timers take beyond what was measured. */
const SLACK_S = 0.15;
/** A wait so many windows long is one in another unit. */
const OTHER_UNIT = 10;

type Wait = NonNullable<LimitHeaders["retryAfter"]>;

/** Whether a client that came back when it was told to was turned away. */
function isTurnedAway({ denied, later }: Trace, seconds: number): boolean {
  const until_ms = denied.answered_ms + 1000 * Math.max(0, seconds + SLACK_S);
  return later.some(({ fate, sent_ms }) => fate === "denied" && sent_ms >= until_ms);
}

/** What is wrong with a wait; undefined where it came true. */
export function untrueWait(
  trace: Trace,
  { seconds }: Wait,
  window_s: number,
): ApiDefect | undefined {
  const { denied, readmitted, every_ms } = trace;
  if (Number.isNaN(seconds)) return "quota-headers-untrue";
  if (seconds > OTHER_UNIT * (window_s + ROUNDING_S)) return "retry-after-in-ms";
  if (isTurnedAway(trace, seconds))
    return seconds < -ROUNDING_S ? "retry-after-in-the-past" : "retry-after-too-short";
  if (!readmitted) return undefined;

  const waited_s = (readmitted.answered_ms - denied.sent_ms + every_ms) / 1000;
  return seconds > waited_s + ROUNDING_S + SLACK_S ? "retry-after-too-long" : undefined;
}

const waitedText = ({ denied, readmitted }: Trace): string =>
  readmitted
    ? `admitted after ${((readmitted.answered_ms - denied.answered_ms) / 1000).toFixed(1)} s`
    : "not admitted any more";

export const retryAfter: ApiCheck = {
  id: "retry-after",
  title: "Retry-After",
  promise: "Before the moment of Retry-After a request is denied, and after it admitted.",
  matters: "Clients obey it: too short a wait makes them hammer, too long a wait takes quota away.",
  // It looks at the requests of another check.
  cost: () => ({ requests: 0, windows: TRACE_WINDOWS }),
  async run(api) {
    const seen: string[] = [];
    const promised = "the wait that a denial names comes true, rounded up by less than a second";
    for (const trace of await tracesOf(api)) {
      const { retryAfter: wait } = limitHeaders(trace.denied.headers, trace.denied.answered_ms);
      if (!wait) continue;
      const text = `${wait.text} named ${trace.when}, ${waitedText(trace)}`;
      const defect = untrueWait(trace, wait, api.limits.window_s);
      if (defect === undefined) {
        seen.push(text);
        continue;
      }
      return broken(defect, promised, text, [
        {
          sent: `${counted(trace.usedUp.length, "request")} on a fresh key`,
          answered: `${answersText(trace.usedUp)}, Retry-After: ${wait.text}`,
        },
        {
          sent: `requests on it every ${Math.round(trace.every_ms)} ms`,
          answered: answersText(trace.later),
          promised: `denied until ${wait.text}, then admitted`,
        },
      ]);
    }
    if (seen.length === 0) return skippedBecause("a denial has no Retry-After");
    return holding(promised, seen.join("; "));
  },
};
