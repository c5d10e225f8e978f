import { counted } from "../../../ui/text.js";
import { rangeText } from "../../check.js";
import { type Answered, admittedOf, answersText, burstsOf } from "../api-answers.js";
import { type ApiCheck, type ApiOutcome, broken, holding } from "../api-check.js";
import type { AuditedApi } from "../audited-api.js";
import { requireDecided } from "./active.js";

/** The length of the load in windows. Half a window shows windows that are a bit too long. */
const WINDOWS = 3.5;
/** The requests in a window, in quotas. */
const OFFERED = 2.2;
/** By how much a count may differ from the model in each window, because sends take time. */
const SLACK_PER_WINDOW = 1;

const requestsOf = (points: number): number => Math.ceil(WINDOWS * OFFERED * points);

/** The quota that a limiter with a smaller burst has in a window of its own length. */
const pointsOf = (api: AuditedApi): number => api.quota.points + api.excess;

/** Evenly asks for more than the quota on a fresh key. */
async function steadyLoad(api: AuditedApi): Promise<Answered[]> {
  const key = await api.freshKey();
  const count = requestsOf(pointsOf(api));
  const every_ms = (WINDOWS * 1000 * api.quota.window_s) / count;
  const began = performance.now();
  const sent: Promise<Answered>[] = [];
  for (let number = 0; number < count; number++) {
    const wait_ms = began + number * every_ms - performance.now();
    if (wait_ms > 0) await api.pause(wait_ms);
    sent.push(api.send(key));
  }
  return Promise.all(sent);
}

function judged(api: AuditedApi, answers: readonly Answered[]): ApiOutcome {
  const inOrder = answers.toSorted((a, b) => a.sent_ms - b.sent_ms);
  const { least, most } = api.rangeInAll(burstsOf(inOrder));
  const slack = Math.floor(SLACK_PER_WINDOW * WINDOWS);
  const range = { least: Math.max(0, least - slack), most: most + slack };
  const seen = admittedOf(answers);
  const seconds = WINDOWS * api.quota.window_s;
  const isLess = seen < range.least;
  // Without a declared algorithm nothing says how fast a quota comes back.
  const isUnknown = api.settings.algorithm === "unknown";
  const promised = isUnknown
    ? `at most ${range.most} of ${answers.length} in ${seconds} s`
    : `${rangeText(range)} of ${answers.length} in ${seconds} s`;
  if (seen <= range.most && (isUnknown || !isLess)) return holding(promised, String(seen));

  return broken(isLess ? "rate-too-low" : "rate-too-high", promised, String(seen), [
    {
      sent: `${counted(answers.length, "request")} on a fresh key, evenly in ${seconds} s`,
      answered: answersText(inOrder.slice(0, 40)),
      promised,
    },
  ]);
}

export const longRun: ApiCheck = {
  id: "long-run",
  title: "Rate over windows",
  promise: "A key that always asks for more gets its quota in every window.",
  matters:
    "It is the rate that a price list names. What is rounded in a window adds up over hours.",
  cost: ({ points }) => ({ requests: requestsOf(points), windows: WINDOWS }),
  async run(api) {
    const answers = await steadyLoad(api);
    requireDecided(answers);
    return judged(api, answers);
  },
};
