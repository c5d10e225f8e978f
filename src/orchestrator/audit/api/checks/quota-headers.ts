import { counted } from "../../../ui/text.js";
import { type Answered, admittedOf, answersText, withFate } from "../api-answers.js";
import { type ApiCheck, broken, holding, skippedBecause } from "../api-check.js";
import type { AuditedApi } from "../audited-api.js";
import { limitHeaders } from "../limit-headers.js";
import { holdsTwoWindows, TRACE_WINDOWS, type Trace, tracesOf } from "../traces.js";

/** A reset may round up to a whole second, and name a window that has just begun. */
const ROUNDING_S = 1.2;

const headersOf = ({ headers, answered_ms }: Answered) => limitHeaders(headers, answered_ms);

const saysNothing = (answer: Answered): boolean => {
  const { limits, remaining, resets } = headersOf(answer);
  return limits.length + remaining.length + resets.length === 0;
};

/** What is not true of the numbers that an answer names, besides what is left. */
function untrueNumbers(api: AuditedApi, answer: Answered): string[] {
  const { limits, resets, windows } = headersOf(answer);
  const { quota, excess } = api;
  const allowed = new Set([quota.points, quota.points + excess, api.limits.points]);
  return [
    ...limits
      .filter(({ points }) => !allowed.has(points))
      .map(({ header, points }) => `${header} names a limit of ${points}, it is ${quota.points}`),
    ...windows
      .filter(({ seconds }) => Math.abs(seconds - quota.window_s) >= 1)
      .map(({ header, seconds }) => `${header} names ${seconds} s, it is ${quota.window_s} s`),
    ...resets
      .filter(({ seconds }) => seconds > quota.window_s + ROUNDING_S || seconds < -ROUNDING_S)
      .map(({ header, text }) => `${header} ${text} is no moment within a window from now`),
  ];
}

/**
 * What is not true of the rest of a quota. Each admitted request takes one, and what came back
 * meanwhile may be added.
 */
function untrueRest(api: AuditedApi, { usedUp, denied }: Trace): string[] {
  const [first] = usedUp as [Answered];
  const problems: string[] = [];
  for (const [index, answer] of withFate(usedUp, "admitted").entries()) {
    const rest = api.limits.points - index - 1;
    const most =
      rest + api.refilledIn(answer.answered_ms - first.sent_ms) + (api.mayRefill ? 1 : 0);
    for (const { header, points } of headersOf(answer).remaining) {
      if (points < rest - (api.mayRefill ? 1 : 0) || points > most)
        problems.push(`${header} ${points} with request ${index + 1}, ${rest} were left`);
    }
  }
  for (const { header, points } of headersOf(denied).remaining) {
    if (points >= 1) problems.push(`${header} ${points} with a denial`);
  }
  return problems;
}

export const quotaHeaders: ApiCheck = {
  id: "quota-headers",
  title: "RateLimit headers",
  promise:
    "RateLimit and X-RateLimit headers name the limit, what is left of it, and when it is back.",
  matters: "Clients pace themselves by them.",
  // It looks at the requests of another check.
  cost: () => ({ requests: 0, windows: TRACE_WINDOWS }),
  async run(api) {
    const [trace] = (await tracesOf(api)) as [Trace];
    const [first] = trace.usedUp as [Answered];
    if (trace.usedUp.every(saysNothing)) return skippedBecause("no answer has such a header");

    const problems = [
      ...untrueNumbers(api, first),
      ...untrueNumbers(api, trace.denied),
      // Where a window began meanwhile, nobody knows with which request.
      ...(holdsTwoWindows(api, trace.usedUp) ? [] : untrueRest(api, trace)),
    ];
    const promised = "what they name is true, and the rest counts down by one";
    const [problem] = problems;
    if (problem === undefined)
      return holding(promised, `true for ${admittedOf(trace.usedUp)} admissions and a denial`);
    const steps = [
      {
        sent: `${counted(trace.usedUp.length, "request")} on a fresh key, one after the other`,
        answered: `${answersText(trace.usedUp)}: ${problem}`,
        promised,
      },
    ];
    return broken(
      "quota-headers-untrue",
      promised,
      [...new Set(problems)].slice(0, 4).join("; "),
      steps,
    );
  },
};
