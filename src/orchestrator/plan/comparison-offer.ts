import type { Request } from "../request/request.js";
import { AUTO } from "../request/setting-values.js";
import { counted, durationText } from "../ui/text.js";
import { roundsThatDecide } from "./decidable.js";
import { estimateRange, type Overheads } from "./estimate.js";
import { makePlan, type PlanContext } from "./make-plan.js";
import { plannedRankings } from "./rankings.js";

/**
 * One line on what it takes to compare a single target, with the flags, the reference, and the time
 * of as many rounds as can decide. It is empty where several targets are measured, where no reference
 * can be added, or where a number of requests shows the bytes per key and no speed.
 */
export function comparisonOffer(
  request: Request,
  context: PlanContext,
  overheads: Overheads,
): string[] {
  const { comparisons, load, rounds: requestedRounds } = request;
  const hasReference = comparisons.addsReference || comparisons.reference;
  if (hasReference || load.duration.mode === "requests") return [];

  const planFor = (runs: number) => {
    const compared: Request = {
      ...request,
      comparisons: { ...comparisons, addsReference: true },
      rounds: { ...requestedRounds, runs },
    };
    return makePlan(compared, context);
  };
  const requestedPlan = planFor(requestedRounds.runs);
  if (!requestedPlan.reference_added) return [];

  const rounds = roundsThatDecide(requestedPlan);
  const offeredPlan = planFor(rounds);

  const [single] = requestedPlan.configurations;
  const [reference] = plannedRankings(offeredPlan).flatMap((ranking) => ranking.reference ?? []);
  const runsFlag = rounds > requestedRounds.runs ? ` --runs ${rounds}` : "";
  const flags = `--reference ${AUTO}${runsFlag}`;
  const time = durationText(estimateRange(offeredPlan, overheads).seconds);
  const labels = [single, reference].map((planned) => planned?.configuration.target.label);
  return [
    `${labels[0]} is measured alone: ${flags} adds the reference ${labels[1]} (${counted(offeredPlan.runs.length, "run")}, about ${time})`,
  ];
}
