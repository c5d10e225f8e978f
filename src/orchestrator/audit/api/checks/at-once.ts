import { rangeText } from "../../check.js";
import type { Range } from "../../expected.js";
import { type Answered, admittedOf, answersText, burstOf } from "../api-answers.js";
import { type ApiCheck, type ApiOutcome, broken, holding } from "../api-check.js";
import { type AuditedApi, BEYOND_QUOTA } from "../audited-api.js";
import { requireDecided } from "./active.js";

/** A burst may meet the end of a window of the API's clock, so two of three must differ. */
const BURSTS = 3;
const MOST_WRONG = 1;

interface JudgedBurst {
  answers: Answered[];
  admitted: number;
  range: Range;
}

const requestsOf = (points: number): number => 2 * points + BEYOND_QUOTA;

async function burst(api: AuditedApi): Promise<JudgedBurst> {
  const answers = await api.atOnce(await api.freshKey(), requestsOf(api.limits.points));
  requireDecided(answers);
  const [range] = api.ranges([burstOf(answers)]) as [Range];
  return { answers, admitted: admittedOf(answers), range };
}

const isWrong = ({ admitted, range }: JudgedBurst): boolean =>
  admitted < range.least || admitted > range.most;

function outcomeOf(api: AuditedApi, bursts: readonly JudgedBurst[]): ApiOutcome {
  const count = requestsOf(api.limits.points);
  const wrong = bursts.filter(isWrong);
  const [shown] = (wrong.length > 0 ? wrong : bursts) as [JudgedBurst];
  const promised = `${rangeText(shown.range)} of ${count} at once`;
  const seen = bursts.map(({ admitted }) => admitted).join(", ");
  if (wrong.length <= MOST_WRONG) return holding(promised, seen);

  const defect = shown.admitted > shown.range.most ? "counts-late" : "other-quota";
  return broken(defect, promised, seen, [
    {
      sent: `${count} requests on a fresh key at once`,
      answered: answersText(shown.answers.toSorted((a, b) => Number(a.status) - Number(b.status))),
      promised: `${rangeText(shown.range)} are admitted`,
    },
  ]);
}

export const atOnce: ApiCheck = {
  id: "at-once",
  title: "Exact at once",
  isFirst: true,
  promise: "Of many requests at once on a fresh key exactly the quota is admitted.",
  matters:
    "A limiter that reads, decides and counts later, or counts after its answer, admits all that come in between.",
  cost: ({ points }) => ({ requests: BURSTS * requestsOf(points), windows: 0 }),
  async run(api) {
    const bursts: JudgedBurst[] = [];
    while (bursts.length < BURSTS) {
      bursts.push(await burst(api));
      const wrong = bursts.filter(isWrong).length;
      if (bursts.length === BURSTS - MOST_WRONG && wrong === 0) break;
    }
    return outcomeOf(api, bursts);
  },
};
