import type { ApiDefect } from "../../../../contract/api-defects.js";
import { counted } from "../../../ui/text.js";
import { NotChecked } from "../../audited-system.js";
import { rangeText } from "../../check.js";
import type { Range } from "../../expected.js";
import { type Answered, admittedOf, answersText, burstOf, withFate } from "../api-answers.js";
import { type ApiCheck, type ApiOutcome, broken, holding } from "../api-check.js";
import { type AuditedApi, BEYOND_QUOTA } from "../audited-api.js";

/** The tries, each on a fresh key. One may have met the end of a window of the API's clock. */
const TRIES = 2;

/**
 * The status that took the place of the declared denial: all answers behind the admitted ones have
 * it, so it denies.
 */
function otherDenial(api: AuditedApi, answers: readonly Answered[]): number | undefined {
  const later = answers.slice(admittedOf(answers));
  const [first] = later;
  if (!first?.status || first.status === api.deniedStatus || first.status < 400) return undefined;
  return later.every(({ status }) => status === first.status) ? first.status : undefined;
}

/** Uses a fresh key beyond its quota, one request after the other. */
async function beyondQuota(api: AuditedApi, count: number): Promise<Answered[]> {
  const answers = await api.oneByOne(await api.freshKey(), count);
  const status = otherDenial(api, answers);
  if (status === undefined) return answers;
  api.deniedStatus = status;
  return answers.map((answer) =>
    answer.status === status ? { ...answer, fate: "denied" } : answer,
  );
}

/** @throws NotChecked unless each request was admitted or denied */
export function requireDecided(answers: readonly Answered[]): void {
  const undecided = answers.filter(({ fate }) => fate === "failed" || fate === "other");
  const [first] = undecided;
  if (first)
    throw new NotChecked(
      `${undecided.length} of ${counted(answers.length, "request")} were answered with ${first.status ?? first.error}`,
    );
}

function defectOf(seen: number, points: number, sent: number): ApiDefect {
  if (seen === sent) return "never-active";
  return Math.abs(seen - points) === 1 ? "off-by-one" : "other-quota";
}

/** The outcome of the tries, all of which must differ from the promise where it is broken. */
function outcomeOf(api: AuditedApi, tries: readonly Answered[][]): ApiOutcome {
  const { points } = api.limits;
  const answers = tries.at(-1) as Answered[];
  const seen = admittedOf(answers);
  const [range] = api.ranges([burstOf(answers)]) as [Range];
  const promised = `${rangeText(range)} of ${answers.length}, one after the other`;
  if (seen >= range.least && seen <= range.most) return holding(promised, String(seen));

  const steps = [
    {
      sent: `${counted(answers.length, "request")} on a fresh key, one after the other`,
      answered: answersText(answers),
      promised: `${rangeText(range)} are admitted`,
    },
  ];
  const text = withFate(answers, "denied").length === 0 ? `all ${seen}` : String(seen);
  return broken(defectOf(seen, points, answers.length), promised, text, steps);
}

export const active: ApiCheck = {
  id: "active",
  title: "Active at all",
  isFirst: true,
  promise: "A fresh key gets its quota, and then it is denied.",
  matters:
    "A limiter that is not wired up, or counts in a store that nobody shares, looks like one that works until the day it is needed.",
  cost: ({ points }) => ({ requests: TRIES * (2 * points + BEYOND_QUOTA), windows: 1 }),
  async run(api) {
    const tries: Answered[][] = [];
    for (let left = TRIES; left > 0; left--) {
      // A limit that does not bind just beyond the quota may bind at twice of it.
      const count = api.limits.points * (tries.length === 0 ? 1 : 2) + BEYOND_QUOTA;
      const answers = await beyondQuota(api, count);
      requireDecided(answers);
      tries.push(answers);
      const outcome = outcomeOf(api, tries);
      if (outcome.status === "holds") return outcome;
      // Another key may have used a part of the quota up, if keys share one.
      if (left > 1 && admittedOf(answers) < api.limits.points) await api.pause(api.window_ms);
    }
    const outcome = outcomeOf(api, tries);
    // Whatever else is tried is judged by what the API really has.
    if (outcome.defect !== "never-active")
      api.excess = admittedOf(tries.at(-1) as Answered[]) - api.limits.points;
    return outcome;
  },
};
