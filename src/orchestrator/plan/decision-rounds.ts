import type { Manifest } from "../../contract/manifest.js";
import { type Plan, roundOf } from "../../contract/plan.js";
import { LOOK_SHARES, MIN_RUNS } from "../../contract/statistics.js";

/** The factor within which the last decision replaces the one before it. */
const MIN_SPACING_FACTOR = 1.15;

/**
 * The first round by turns after which so many comparisons can be decided, by signed ranks and Holm's
 * correction.
 */
export const firstRoundByTurns = (comparisons: number): number =>
  Math.ceil(1 + Math.log2(comparisons / LOOK_SHARES.first));

/**
 * The rounds 5, 7, 10, 14, 20, … after which an adaptive campaign decides. Each needs √2 times the
 * runs before it, so that few decisions share the error.
 * @param maxRuns the most runs, at least 5
 * @param first the first round after which runs can show something
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
 * The runs up to the last round of each configuration. By turns, members that are in a group for the
 * sake of others are measured only where another configuration of the group is.
 * @param lastRound gives the last round of a configuration by its hash
 */
export function runsUntil(plan: Plan, lastRound: (hash: string) => number): Plan["runs"] {
  const runs = plan.runs.filter(
    (run) => run.diagnose || roundOf(run) <= lastRound(run.configuration_hash),
  );
  const groupOf = ({ round, group }: Plan["runs"][number]) => `${round} ${group}`;
  const compared = new Set(runs.flatMap((run) => (run.beside ? [] : [groupOf(run)])));
  return runs.filter((run) => !run.beside || compared.has(groupOf(run)));
}

/** The runs that an adaptive campaign has requested so far, or all runs of any other plan. */
export const requestedRuns = ({
  plan,
  adaptive,
}: Pick<Manifest, "plan" | "adaptive">): Plan["runs"] =>
  adaptive ? runsUntil(plan, (hash) => adaptive.rounds[hash] ?? 0) : plan.runs;

/**
 * Whether no decision is open. A campaign may have been killed just before it would have requested
 * more runs.
 */
export const isDecided = ({ plan, adaptive, max_rate }: Manifest): boolean =>
  (!plan.adaptive || adaptive?.ended !== undefined) &&
  (!plan.max_rate || max_rate?.ended !== undefined);
