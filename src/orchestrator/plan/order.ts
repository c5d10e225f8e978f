import { availableParallelism } from "node:os";
import { isBurnIn, type Plan } from "../../contract/plan.js";
import { isCopy } from "../../targets/options.js";
import { type Shuffler, shuffler } from "../../traffic/shuffle.js";
import type { Request } from "../request/request.js";
import { counted } from "../ui/text.js";
import { groupsOf } from "./groups.js";
import { isControl, MIN_ROUNDS_FOR_A_CLAIM, type Planned, type Ranking } from "./rankings.js";

/** Most runs of a block, with its reference: what follows within minutes meets the same host (M22). */
const BLOCK_SIZE = 5;

/** How many blocks a ranking has in each round. */
export const blockCount = ({ members, reference }: Ranking): number =>
  reference ? Math.ceil((members.length - 1) / (BLOCK_SIZE - 1)) : members.length;

/** A ranking's blocks of one round: the reference and a random share of the others, of nearly the same size. */
function blocksOf(ranking: Ranking, shuffle: Shuffler["shuffle"]): Planned[][] {
  const { members, reference } = ranking;
  if (!reference) return members.map((each) => [each]);
  const others = shuffle(members.filter((each) => each !== reference));
  const count = blockCount(ranking);
  return Array.from({ length: count }, (_, block) =>
    shuffle([reference, ...others.filter((_, index) => index % count === block)]),
  );
}

/** A run of a plan without its file. */
type OrderedRun = Omit<Plan["runs"][number], "file">;

/** Gives each run of a configuration its number. */
function runNumbers(): (hash: string) => number {
  const lastRuns = new Map<string, number>();
  return (hash) => {
    const run = (lastRuns.get(hash) ?? 0) + 1;
    lastRuns.set(hash, run);
    return run;
  };
}

/** Whether it is in a group for the others: a reference, a copy or a control. */
const isBeside = (planned: Planned, rankings: readonly Ranking[]): boolean =>
  isControl(planned) ||
  isCopy(planned.configuration.target) ||
  rankings.some(({ reference }) => reference === planned);

/** By turns: rounds of groups, whose runs are made at the same time. */
function byTurns(rounds: number, seed: number, rankings: readonly Ranking[]): OrderedRun[] {
  const nextRun = runNumbers();
  return Array.from({ length: rounds }, (_, index) => {
    const groups = groupsOf(rankings, shuffler(seed + index + 1), availableParallelism());
    return groups.flatMap((members, group) => {
      const isAlone = members.every((each) => isBeside(each, rankings));
      return members.map((each) => ({
        configuration_hash: each.hash,
        run: nextRun(each.hash),
        round: index + 1,
        block: group + 1,
        ...(!isAlone && isBeside(each, rankings) ? { beside: true as const } : {}),
      }));
    });
  }).flat();
}

/**
 * Interleaved: rounds of blocks (M16, M22). A block has up to five configurations of one ranking, one of them the
 * reference, in random order; its neighbours are compared with it. A campaign that can show something begins with a
 * burn-in round.
 */
function interleaved(rounds: number, seed: number, rankings: readonly Ranking[]): OrderedRun[] {
  const nextRun = runNumbers();
  const burnIn = shuffler(seed).shuffle(rankings.flatMap(({ members }) => members));
  const countedRuns = Array.from({ length: rounds }, (_, index) => {
    const round = index + 1;
    const { shuffle } = shuffler(seed + round);
    const blocks = shuffle(rankings.flatMap((ranking) => blocksOf(ranking, shuffle)));
    return blocks.flatMap((members, block) =>
      members.map(({ hash }) => ({
        configuration_hash: hash,
        run: nextRun(hash),
        round,
        block: block + 1,
      })),
    );
  });
  return [
    ...(rounds < MIN_ROUNDS_FOR_A_CLAIM
      ? []
      : burnIn.map(({ hash }) => ({ configuration_hash: hash, run: 0, round: 0 }))),
    ...countedRuns.flat(),
  ];
}

/** `burn-in: a first round of 4 runs, kept and never counted`; nothing for a plan without one. */
export function burnInLines({ runs }: Plan): string[] {
  const burnIn = runs.filter(isBurnIn).length;
  return burnIn > 0 ? [`burn-in: a first round of ${counted(burnIn, "run")}, kept and never counted`] : [];
}

/** The runs of a plan in their order, which the seed decides. */
export function orderedRuns(
  { order, runs, seed }: Pick<Request, "order" | "runs" | "seed">,
  configurations: readonly Planned[],
  rankings: readonly Ranking[],
): OrderedRun[] {
  if (order === "turns") return byTurns(runs, seed, rankings);
  if (order === "interleaved") return interleaved(runs, seed, rankings);
  return configurations.flatMap(({ hash }) =>
    Array.from({ length: runs }, (_, index) => ({ configuration_hash: hash, run: index + 1 })),
  );
}
