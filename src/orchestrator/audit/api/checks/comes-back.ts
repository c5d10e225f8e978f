import { counted } from "../../../ui/text.js";
import { answersText } from "../api-answers.js";
import { type ApiCheck, broken, holding } from "../api-check.js";
import { TRACE_WINDOWS, type Trace, traceRequests, tracesOf } from "../traces.js";

/** Time that sends, answers and timers take beyond what was measured. */
const SLACK_MS = 150;
/** Clocks of machines and the parts of a window that stores count in. */
const SLACK_SHARE = 0.05;

/**
 * How long a key was turned away at least, in ms: from the answer of its first denial until the last
 * request that was not admitted was sent. The server decided the one before that time and the other
 * after it, however late a busy machine sends and reads. A late request that is admitted proves nothing.
 */
export function turnedAwayAtLeastMs({ denied, later }: Trace): number {
  const lastTurnedAway = later.findLast(({ fate }) => fate !== "admitted") ?? denied;
  return Math.max(0, lastTurnedAway.sent_ms - denied.answered_ms);
}

const waitText = (trace: Trace): string => {
  const { denied, readmitted } = trace;
  return readmitted
    ? `${((readmitted.answered_ms - denied.answered_ms) / 1000).toFixed(1)} s`
    : "never";
};

export const comesBack: ApiCheck = {
  id: "comes-back",
  title: "Quota comes back",
  promise: "A used-up quota comes back within its window, although the client goes on asking.",
  matters: "A quota that comes back late turns users away who kept to it.",
  cost: ({ points, window_s }) => ({
    requests: traceRequests(points, window_s),
    windows: TRACE_WINDOWS,
  }),
  async run(api) {
    const traces = await tracesOf(api);
    const most_ms = (1 + SLACK_SHARE) * api.window_ms + SLACK_MS;
    const late = traces.find((trace) => turnedAwayAtLeastMs(trace) > most_ms);
    const promised = `within ${api.window_ms / 1000} s`;
    const seen = traces.map((trace) => `${waitText(trace)} when used up ${trace.when}`).join(", ");
    if (!late) return holding(promised, seen);
    return broken("returns-late", promised, seen, [
      {
        sent: `${counted(late.usedUp.length, "request")} on a fresh key`,
        answered: answersText(late.usedUp),
      },
      {
        sent: `requests on it every ${Math.round(late.every_ms)} ms`,
        answered: answersText(late.later),
        promised: `one is admitted ${promised}`,
      },
    ]);
  },
};
