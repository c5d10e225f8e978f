import { isProgramLayer } from "../../contract/layers.js";
import type { Plan } from "../../contract/plan.js";
import { readOwnLimits, usableCpus } from "../../machine/own-limits.js";
import { isCopy } from "../../targets/options.js";
import { shuffler } from "../../traffic/shuffle.js";
import type { Request, RequestedRounds } from "../request/request.js";
import { groupsOfCurve } from "./curve-groups.js";
import { type Filler, fillersOf, type PlannedGroup } from "./group-fillers.js";
import { isControl, type Planned, type Ranking } from "./rankings.js";
import { groupsOf } from "./turn-groups.js";

type OrderedRun = Omit<Plan["runs"][number], "file">;

/** The runs in their order, and by turns what fills short groups. */
export interface OrderedRuns {
  runs: OrderedRun[];
  fillers: Filler[];
}

/**
 * The members that are in a group only to be compared with its others: references, copies and
 * controls, or controls alone where the group has nothing else. A group of controls has none.
 */
function membersForOthers(
  group: readonly Planned[],
  rankings: readonly Ranking[],
): readonly Planned[] {
  const controls = group.filter(isControl);
  const compared = group.filter(
    (planned) =>
      isControl(planned) ||
      isCopy(planned.configuration.target) ||
      rankings.some(({ reference }) => reference === planned),
  );
  if (compared.length < group.length) return compared;
  return controls.length < group.length ? controls : [];
}

function byTurns(
  { runs: rounds, seed }: Pick<RequestedRounds, "runs" | "seed">,
  rankings: readonly Ranking[],
  isCurve: boolean,
): OrderedRuns {
  const groupsIn = isCurve ? groupsOfCurve : groupsOf;
  const lastRuns = new Map<string, number>();
  const cpus = Math.max(1, Math.floor(usableCpus(readOwnLimits())));
  const runs: OrderedRun[] = [];
  const plannedGroups: PlannedGroup[] = [];

  for (let round = 1; round <= rounds; round++) {
    const groups = groupsIn(rankings, shuffler(seed + round), cpus);
    for (const [index, members] of groups.entries()) {
      plannedGroups.push({ round, group: index + 1, members });
      const forOthers = membersForOthers(members, rankings);
      for (const member of members) {
        const run = (lastRuns.get(member.hash) ?? 0) + 1;
        lastRuns.set(member.hash, run);
        const ordered = { configuration_hash: member.hash, run, round, group: index + 1 };
        runs.push(forOthers.includes(member) ? { ...ordered, beside: true } : ordered);
      }
    }
  }
  // In a load curve a target has one turn at each load, whatever the size of its group.
  return { runs, fillers: isCurve ? [] : fillersOf(plannedGroups, seed, cpus) };
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

const consecutive = (runs: number, configurations: readonly Planned[]): OrderedRun[] =>
  configurations.flatMap(({ hash }) =>
    Array.from({ length: runs }, (_, index) => ({ configuration_hash: hash, run: index + 1 })),
  );

export function orderedRuns(
  { rounds, load }: Pick<Request, "rounds" | "load">,
  configurations: readonly Planned[],
  rankings: readonly Ranking[],
): OrderedRuns {
  const { order, runs, seed } = rounds;
  if (order === "turns") return byTurns(rounds, rankings, load.curve !== undefined);
  const ordered =
    order === "interleaved"
      ? interleaved(runs, seed, configurations)
      : consecutive(runs, configurations);
  return { runs: ordered, fillers: [] };
}

/**
 * The runs with one diagnosing run of each configuration, or these alone. Load programs have no
 * instruments, and a copy would show what its original does.
 */
export function withDiagnosingRuns(
  diagnose: RequestedRounds["diagnose"],
  configurations: Plan["configurations"],
  runs: Plan["runs"],
): Plan["runs"] {
  if (!diagnose) return runs;

  const counted = diagnose === "alone" ? [] : runs;
  const diagnosing = configurations.flatMap(({ hash, configuration }) => {
    const first = runs.find(({ configuration_hash }) => configuration_hash === hash);
    if (!first || isProgramLayer(configuration.layer) || isCopy(configuration.target)) return [];

    const countedRuns = counted.filter(({ configuration_hash }) => configuration_hash === hash);
    const lastRun = Math.max(0, ...countedRuns.map(({ run }) => run));
    return {
      configuration_hash: hash,
      run: lastRun + 1,
      diagnose: true as const,
      file: first.file.replace(/_run\d+\.json$/, "_diagnose.json"),
    };
  });
  return [...counted, ...diagnosing];
}
