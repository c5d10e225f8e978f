import { type Configuration, canonicalJson } from "../../contract/configuration.js";
import { grouped } from "../../kit/grouped.js";
import { sum } from "../../kit/numbers.js";
import type { Shuffler } from "../../traffic/shuffle.js";
import type { Planned, Ranking } from "./rankings.js";
import { groupsOf } from "./turn-groups.js";

/** A key that the runs of one target at all loads of a curve share. */
export function curveTargetKey({ load: _load, ...target }: Configuration): string {
  return canonicalJson(target);
}

/** One configuration of each target of a load curve, whichever loads it has. */
export const targetsOfCurve = (configurations: readonly Configuration[]): Configuration[] =>
  grouped(configurations, curveTargetKey).flatMap(([first]) => first ?? []);

/**
 * The groups of a round of a load curve. Who shares a group is drawn as for one load, and each member
 * has all of its loads there.
 */
export function groupsOfCurve(
  rankings: readonly Ranking[],
  shuffler: Shuffler,
  cpus: number,
): Planned[][] {
  const planned = rankings.flatMap(({ members }) => members);
  const byTarget = new Map(
    grouped(planned, ({ configuration }) => curveTargetKey(configuration)).map(
      ([first, ...others]) => [first, others],
    ),
  );
  const atOneLoad = rankings.filter(({ members: [first] }) => first && byTarget.has(first));
  return groupsOf(atOneLoad, shuffler, cpus).map((group) =>
    group.flatMap((first) => [first, ...(byTarget.get(first) ?? [])]),
  );
}

/**
 * The rankings of a load curve. Those that differ only in their load are one family, because a target
 * is compared with the reference at every load (M17).
 */
export function withCurveFamilies(rankings: readonly Ranking[]): Ranking[] {
  const keyOf = ({ members }: Ranking) =>
    canonicalJson(members.map(({ configuration }) => curveTargetKey(configuration)));
  const families = grouped(rankings, keyOf).map((family) => {
    const comparisons = sum(family.map((ranking) => ranking.family));
    return [keyOf(family[0] as Ranking), comparisons] as const;
  });
  const comparisonsByKey = new Map(families);
  return rankings.map((ranking) => ({
    ...ranking,
    family: comparisonsByKey.get(keyOf(ranking)) ?? ranking.family,
  }));
}
