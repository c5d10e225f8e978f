import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { isBurnIn, type Plan } from "../../contract/plan.js";
import type { Request } from "../request/request.js";
import { counted } from "../ui/text.js";
import { MIN_ROUNDS_FOR_A_CLAIM, type Planned, type Ranking } from "./rankings.js";

/** Most runs of a block, with its reference: what follows within minutes meets the same host (M22). */
const BLOCK_SIZE = 5;

/**
 * Spreads a seed over all its bits (the finalizer of MurmurHash3, A. Appleby). Without it, consecutive seeds would
 * give similar orders, since the generator's first numbers depend linearly on its seed.
 */
function spreadSeed(seed: number): number {
  let bits = seed | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/** Gives a list in another random order with each call. */
type Shuffle = <Item>(items: readonly Item[]) => Item[];

/**
 * Random orders that the seed decides: Fisher–Yates (Durstenfeld, CACM 7(7), 1964).
 * @param seed a whole number; the same one gives the same orders
 */
export function shuffler(seed: number): Shuffle {
  const generator = xoroshiro128plus(spreadSeed(seed));
  return (items) => {
    const pool = [...items];
    const order: typeof pool = [];
    while (pool.length > 0) order.push(...pool.splice(uniformInt(generator, 0, pool.length - 1), 1));
    return order;
  };
}

/** How many blocks a ranking has in each round. */
export const blockCount = ({ members, reference }: Ranking): number =>
  reference ? Math.ceil((members.length - 1) / (BLOCK_SIZE - 1)) : members.length;

/** A ranking's blocks of one round: the reference and a random share of the others, of nearly the same size. */
function blocksOf(ranking: Ranking, shuffle: Shuffle): Planned[][] {
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

/**
 * Interleaved: rounds of blocks (M16, M22). A block has up to five configurations of one ranking, one of them the
 * reference, in random order; its neighbours are compared with it. A campaign that can show something begins with a
 * burn-in round.
 */
function interleaved(rounds: number, seed: number, rankings: readonly Ranking[]): OrderedRun[] {
  const lastRuns = new Map<string, number>();
  const nextRun = (hash: string): number => {
    const run = (lastRuns.get(hash) ?? 0) + 1;
    lastRuns.set(hash, run);
    return run;
  };
  const burnIn = shuffler(seed)(rankings.flatMap(({ members }) => members));
  const countedRuns = Array.from({ length: rounds }, (_, index) => {
    const round = index + 1;
    const shuffle = shuffler(seed + round);
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
  if (order === "interleaved") return interleaved(runs, seed, rankings);
  return configurations.flatMap(({ hash }) =>
    Array.from({ length: runs }, (_, index) => ({ configuration_hash: hash, run: index + 1 })),
  );
}
