import { isProgramLayer } from "../../contract/layers.js";
import type { Plan } from "../../contract/plan.js";
import { readOwnLimits, usableCpus } from "../../machine/own-limits.js";
import { isCopy } from "../../targets/options.js";
import { shuffler } from "../../traffic/shuffle.js";
import type { Request } from "../request/request.js";
import { isControl, type Planned, type Ranking } from "./rankings.js";
import { groupsOf } from "./turn-groups.js";

type OrderedRun = Omit<Plan["runs"][number], "file">;

/**
 * Those of a group that are there for its others: references, copies and controls, or controls
 * alone.
 */
function besideIn(group: readonly Planned[], rankings: readonly Ranking[]): readonly Planned[] {
  const controls = group.filter(isControl);
  const beside = group.filter(
    (each) =>
      isControl(each) ||
      isCopy(each.configuration.target) ||
      rankings.some(({ reference }) => reference === each),
  );
  return [beside, controls].find(({ length }) => length < group.length) ?? [];
}

function byTurns(rounds: number, seed: number, rankings: readonly Ranking[]): OrderedRun[] {
  const lastRuns = new Map<string, number>();
  const cpus = Math.max(1, Math.floor(usableCpus(readOwnLimits())));
  return Array.from({ length: rounds }, (_, index) => {
    const groups = groupsOf(rankings, shuffler(seed + index + 1), cpus);
    return groups.flatMap((members, group) => {
      const beside = besideIn(members, rankings);
      return members.map((each) => {
        const { hash } = each;
        const run = (lastRuns.get(hash) ?? 0) + 1;
        lastRuns.set(hash, run);
        return {
          configuration_hash: hash,
          run,
          round: index + 1,
          group: group + 1,
          ...(beside.includes(each) ? { beside: true as const } : {}),
        };
      });
    });
  }).flat();
}

const interleaved = (
  rounds: number,
  seed: number,
  configurations: readonly Planned[],
): OrderedRun[] =>
  Array.from({ length: rounds }, (_, index) =>
    shuffler(seed + index + 1)
      .shuffle(configurations)
      .map(({ hash }) => ({ configuration_hash: hash, run: index + 1, round: index + 1 })),
  ).flat();

export function orderedRuns(
  { order, runs, seed }: Pick<Request, "order" | "runs" | "seed">,
  configurations: readonly Planned[],
  rankings: readonly Ranking[],
): OrderedRun[] {
  if (order === "turns") return byTurns(runs, seed, rankings);
  if (order === "interleaved") return interleaved(runs, seed, configurations);
  return configurations.flatMap(({ hash }) =>
    Array.from({ length: runs }, (_, index) => ({ configuration_hash: hash, run: index + 1 })),
  );
}

/**
 * One diagnosing run of each configuration, or these alone; foreign programs have no instruments.
 */
export function withDiagnosingRuns(
  diagnose: Request["diagnose"],
  configurations: Plan["configurations"],
  runs: Plan["runs"],
): Plan["runs"] {
  if (!diagnose) return runs;
  const counted = diagnose === "alone" ? [] : runs;
  const diagnosing = configurations.flatMap(({ hash, configuration }) => {
    const own = runs.filter(({ configuration_hash }) => configuration_hash === hash);
    const [first] = own;
    if (!first || isProgramLayer(configuration.layer) || isCopy(configuration.target)) return [];
    const last = Math.max(0, ...(diagnose === "alone" ? [] : own.map(({ run }) => run)));
    return {
      configuration_hash: hash,
      run: last + 1,
      diagnose: true as const,
      file: first.file.replace(/_run\d+\.json$/, "_diagnose.json"),
    };
  });
  return [...counted, ...diagnosing];
}
