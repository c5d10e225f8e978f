import type { ApiDefect } from "../../../../contract/api-defects.js";
import type { Step } from "../../../../contract/audit.js";
import { counted } from "../../../ui/text.js";
import { type Answered, admittedOf, answersText } from "../api-answers.js";
import { type ApiCheck, broken, holding, reported } from "../api-check.js";
import type { OtherPath } from "../api-settings.js";
import { type AuditedApi, BEYOND_QUOTA, type RequestOptions } from "../audited-api.js";

/** The request of another path, with the key's query where keys are in queries. */
const onPath = (path: string): RequestOptions => ({
  change: (parts) => {
    const query = parts.path.indexOf("?");
    return { ...parts, path: query < 0 ? path : path + parts.path.slice(query) };
  },
});

/** What another path does with a key that is used up. */
interface PathOutcome {
  text: string;
  defect?: ApiDefect;
  /** Whether it has another limit, of which nobody said anything. */
  isOther?: true;
  steps: Step[];
}

async function tryPath(api: AuditedApi, { path, quota }: OtherPath): Promise<PathOutcome> {
  const key = await api.freshKey();
  const usedUp = await api.useUp(key);
  const count = (quota?.points ?? api.limits.points) + BEYOND_QUOTA;
  const answers = await api.oneByOne(key, count, onPath(path));
  const text = `${path}: ${answersText(answers)}`;
  const steps = (promised: string): Step[] => [
    { sent: "requests on a fresh key until it is denied", answered: answersText(usedUp) },
    {
      sent: `${counted(answers.length, "request")} on it to ${path}`,
      answered: answersText(answers),
      promised,
    },
  ];
  return quota
    ? withOwnQuota(answers, quota.points, text, steps)
    : withSameQuota(api, answers, text, steps);
}

type StepsOf = (promised: string) => Step[];

/** A path with a quota of its own must not count for another path. */
function withOwnQuota(
  answers: readonly Answered[],
  points: number,
  text: string,
  steps: StepsOf,
): PathOutcome {
  const promised = `${points} are admitted`;
  if (admittedOf(answers) >= points) return { text, steps: steps(promised) };
  return { text, defect: "routes-share-a-key", steps: steps(promised) };
}

/** A path with the same quota must not renew it. */
function withSameQuota(
  api: AuditedApi,
  answers: readonly Answered[],
  text: string,
  steps: StepsOf,
): PathOutcome {
  const admitted = admittedOf(answers);
  const refilled = api.mayRefill ? 1 : 0;
  if (admitted <= refilled) return { text, steps: steps("all are denied") };
  if (admitted < api.limits.points) return { text, isOther: true, steps: [] };
  return { text, defect: "renewed-by-other-path", steps: steps("all are denied") };
}

export const otherPaths: ApiCheck = {
  id: "other-paths",
  title: "Other paths",
  promise: "Paths that share a quota do not renew it, and those with one of their own have it.",
  matters: "An older version of an API that is not limited is the way around its limit.",
  unsupportedReason: (settings) =>
    settings.otherPaths.length === 0 ? "no other path is named with --also" : undefined,
  cost: ({ points }, settings) => ({
    requests: settings.otherPaths.length * (2 * points + BEYOND_QUOTA + 1),
    windows: 0,
  }),
  async run(api) {
    const outcomes: PathOutcome[] = [];
    for (const path of api.settings.otherPaths) outcomes.push(await tryPath(api, path));

    const promised = "no path renews the quota of another, or takes from it";
    const seen = outcomes.map(({ text }) => text).join("; ");
    const defect = outcomes.find((outcome) => outcome.defect);
    if (defect?.defect) return broken(defect.defect, promised, seen, defect.steps);
    return outcomes.some(({ isOther }) => isOther)
      ? reported(false, promised, seen)
      : holding(promised, seen);
  },
};
