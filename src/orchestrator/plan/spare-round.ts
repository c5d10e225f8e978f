import type { RunStatus } from "../../contract/events.js";
import type { OutcomeStatus } from "../../contract/judgement.js";
import { type Plan, type PlannedRun, roundOf } from "../../contract/plan.js";
import { isSpoiled } from "../../judge/outcome.js";
import { comparedRankings, designOf, roundsToDecide } from "./decidable.js";
import { originals, type Ranking } from "./rankings.js";

interface Outcome {
  status: RunStatus;
  outcome?: OutcomeStatus | undefined;
}

/** The outcomes of runs by their files. */
export type Outcomes = ReadonlyMap<string, Outcome>;

/** Whether the rounds of a ranking can decide, so that one that is lost may have to be replaced. */
const isDecidable = (plan: Plan, ranking: Ranking): boolean =>
  roundsToDecide(designOf(plan, ranking)) <= plan.runs_per_configuration;

/**
 * Whether a spare round may help a plan: targets go by turns, in rounds that can decide. A load curve
 * has none, because a round of it takes minutes.
 */
export const hasSpareRound = (plan: Plan): boolean =>
  plan.order === "turns" &&
  !plan.adaptive &&
  !plan.load_curve &&
  comparedRankings(plan).some((ranking) => isDecidable(plan, ranking));

/** Whether the measurement of a run is broken. A target that spoils its own run would do so again. */
const isLost = (run: Outcome): boolean => run.status === "invalid" && !isSpoiled(run);

const isUsable = (run: Outcome): boolean => run.status !== "failed" && !isLost(run);

/** Two outcomes of a round, of a member and of its reference beside it. */
interface Pair {
  round: number;
  sides: readonly Outcome[];
}

function pairsOf({ runs }: Plan, member: string, reference: string, outcomes: Outcomes): Pair[] {
  const runsOf = (hash: string): PlannedRun[] =>
    runs.filter(({ configuration_hash }) => configuration_hash === hash);
  const pairs: Pair[] = [];
  for (const run of runsOf(member)) {
    const partner = runsOf(reference).find(
      ({ round, group }) => round === run.round && group === run.group,
    );
    if (!partner) continue;
    const sides = [run, partner].flatMap(({ file }) => outcomes.get(file) ?? []);
    pairs.push({ round: roundOf(run), sides });
  }
  return pairs;
}

/**
 * The rounds that a spare round would replace: those that invalid runs took from comparisons that
 * one more pair enables to decide. It is empty where no comparison needs it, or one pair is not
 * enough.
 */
export function roundsToReplace(plan: Plan, outcomes: Outcomes): number[] {
  if (!plan.spare_runs) return [];
  const rounds = new Set<number>();
  for (const ranking of comparedRankings(plan)) {
    const { members, reference } = ranking;
    if (!reference || !isDecidable(plan, ranking)) continue;
    const needed = roundsToDecide(designOf(plan, ranking));

    for (const member of originals(members)) {
      if (member === reference) continue;
      const pairs = pairsOf(plan, member.hash, reference.hash, outcomes);
      if (pairs.filter(({ sides }) => sides.every(isUsable)).length !== needed - 1) continue;
      for (const { round, sides } of pairs) if (sides.some(isLost)) rounds.add(round);
    }
  }
  return [...rounds].sort((first, second) => first - second);
}

/** Whether all runs are made and the spare round is still missing. */
export const needsSpareRound = (plan: Plan, outcomes: Outcomes): boolean =>
  plan.runs.every(({ file }) => outcomes.has(file)) &&
  !plan.runs.some(({ file }) => file === plan.spare_runs?.[0]?.file) &&
  roundsToReplace(plan, outcomes).length > 0;
