import type { Manifest } from "../../contract/manifest.js";
import { type Plan, roundOf } from "../../contract/plan.js";
import { LOOK_SHARES, MIN_RUNS } from "../../contract/statistics.js";

/** A decision is left out where the last one follows within this factor. */
const MIN_SPACING_FACTOR = 1.15;

/**
 * By turns: the first round after which so many comparisons can be decided, by signed ranks and
 * Holm's correction.
 */
export const firstRoundByTurns = (comparisons: number): number =>
  Math.ceil(1 + Math.log2(comparisons / LOOK_SHARES.first));

/**
 * 5, 7, 10, 14, 20, …: each needs √2 times the runs before it, so that few decisions share the
 * error.
 * @param maxRuns at least 5 @param first where runs can show something only later
 */
export function decisionRounds(maxRuns: number, first = MIN_RUNS): number[] {
  const rounds: number[] = [];
  for (let step = 0; rounds.length === step; step++) {
    const round = Math.round(first * 2 ** (step / 2));
    if (round * MIN_SPACING_FACTOR < maxRuns) rounds.push(round);
  }
  return [...rounds, maxRuns];
}

/**
 * The runs that are left. By turns what is beside others is measured only where another
 * configuration of its group is.
 * @param lastRound of a configuration, by its hash
 */
export function runsUntil(plan: Plan, lastRound: (hash: string) => number): Plan["runs"] {
  const runs = plan.runs.filter(
    (run) => run.diagnose || roundOf(run) <= lastRound(run.configuration_hash),
  );
  const groupOf = ({ round, group }: Plan["runs"][number]) => `${round} ${group}`;
  const compared = new Set(runs.flatMap((run) => (run.beside ? [] : [groupOf(run)])));
  return runs.filter((run) => !run.beside || compared.has(groupOf(run)));
}

/** The runs that an adaptive campaign has requested so far; else all runs of the plan. */
export const requestedRuns = ({
  plan,
  adaptive,
}: Pick<Manifest, "plan" | "adaptive">): Plan["runs"] =>
  adaptive ? runsUntil(plan, (hash) => adaptive.rounds[hash] ?? 0) : plan.runs;

/**
 * Whether no decision is open: a campaign may have been killed just before it would have requested
 * more runs.
 */
export const isDecided = ({ plan, adaptive, max_rate }: Manifest): boolean =>
  (!plan.adaptive || adaptive?.ended !== undefined) &&
  (!plan.max_rate || max_rate?.ended !== undefined);
