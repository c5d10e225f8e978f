import type { Plan, PlannedRun } from "../../contract/plan.js";
import { shuffler } from "../../traffic/shuffle.js";
import { isControl, type Planned } from "./rankings.js";
import { fits } from "./turn-groups.js";

/** The targets of a group of a round, without fillers. */
export interface PlannedGroup {
  round: number;
  /** The number of the group in its round, from 1. */
  group: number;
  members: readonly Planned[];
}

export type Filler = NonNullable<Plan["fillers"]>[number];

/**
 * The members that groups get once more, so that all groups of a configuration have one size (M16).
 * Otherwise it would idle longer between its turns in some rounds than in others.
 * @param cpus of the machine
 */
export function fillersOf(groups: readonly PlannedGroup[], seed: number, cpus: number): Filler[] {
  const sizes = sizesByHash(groups);
  return groups.flatMap(({ round, group, members }) => {
    const size = Math.max(...members.map(({ hash }) => sizes.get(hash) ?? 0));
    const ofEqualSize = groups.flatMap((other) =>
      other.round === round && other.members.some(({ hash }) => sizes.get(hash) === size)
        ? other.members
        : [],
    );
    const candidates = shuffler(SEED_OF_FILLERS + seed + round).shuffle(withoutControls(members));
    return repeated({ members, candidates, others: withoutControls(ofEqualSize) }, size, cpus).map(
      ({ hash }) => ({ round, group, configuration_hash: hash }),
    );
  });
}

/** Other draws than those of the groups, which shufflers of the plain seeds make. */
const SEED_OF_FILLERS = 0x5eed;

/** The size that all groups of a configuration need, by its hash. */
function sizesByHash(groups: readonly PlannedGroup[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const { members } of groups) {
      const size = Math.max(members.length, ...members.map(({ hash }) => sizes.get(hash) ?? 0));
      for (const { hash } of members) {
        hasChanged ||= sizes.get(hash) !== size;
        sizes.set(hash, size);
      }
    }
  }
  return sizes;
}

/** The members that use a limiter, or all where none does. */
function withoutControls(members: readonly Planned[]): readonly Planned[] {
  const targets = members.filter((member) => !isControl(member));
  return targets.length > 0 ? targets : members;
}

/**
 * The fillers of a group, each member in its turn. A member that does not fit, as a further cluster
 * on a small machine, gives way to one that does, at last to one of another group.
 */
function repeated(
  { members, candidates, others }: Record<"members" | "candidates" | "others", readonly Planned[]>,
  size: number,
  cpus: number,
): Planned[] {
  const fillers: Planned[] = [];
  while (members.length + fillers.length < size) {
    const start = fillers.length % candidates.length;
    const inTheirTurn = [...candidates.slice(start), ...candidates.slice(0, start), ...others];
    const filler = inTheirTurn.find((candidate) =>
      fits([...members, ...fillers, candidate], { cpus, most: size }),
    );
    if (!filler) break;
    fillers.push(filler);
  }
  return fillers;
}

const keyOf = ({ round, group }: Pick<PlannedRun, "round" | "group">): string =>
  `${round} ${group}`;

/** The targets of the groups of a plan: their members and fillers. */
export class GroupTargets {
  readonly #hashes = new Map<string, string[]>();

  constructor({ runs, fillers = [] }: Pick<Plan, "runs" | "fillers">) {
    for (const run of [...runs, ...fillers]) {
      if (run.group === undefined) continue;
      const key = keyOf(run);
      this.#hashes.set(key, [...(this.#hashes.get(key) ?? []), run.configuration_hash]);
    }
  }

  /**
   * The hashes of the targets that are up beside runs of a group, and whose turns count nowhere: its
   * fillers, and members that an adaptive campaign needs no more. So the group keeps its size (M22).
   */
  fillersBeside(runs: readonly PlannedRun[]): string[] {
    const [first] = runs;
    const fillers = [...((first && this.#hashes.get(keyOf(first))) ?? [])];
    for (const { configuration_hash: hash } of runs) {
      const index = fillers.indexOf(hash);
      if (index >= 0) fillers.splice(index, 1);
    }
    return fillers;
  }

  /** The hashes of all targets that are up with runs of a group, those of the runs first. */
  withRuns(runs: readonly PlannedRun[]): string[] {
    return [...runs.map((run) => run.configuration_hash), ...this.fillersBeside(runs)];
  }
}
