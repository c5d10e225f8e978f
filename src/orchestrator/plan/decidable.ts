import { isCounted, type Plan } from "../../contract/plan.js";
import { isCopy } from "../../targets/options.js";
import { counted } from "../ui/text.js";
import { blockCount } from "./order.js";
import { MIN_ROUNDS_FOR_A_CLAIM, originals, plannedRankings, type Ranking } from "./rankings.js";

/** From so many rounds on runs are paired by round, if the test can then reject at all (M17). */
const MIN_ROUNDS_FOR_PAIRS = 10;

/** The level of a family of comparisons, by Holm's correction. */
const LEVEL = 0.05;

/** The runs behind one comparison of a ranking. */
interface Design {
  rounds: number;
  /** The runs of a round are made at the same time: pairs alone are compared. */
  byTurns: boolean;
  /** Runs of the reference in each round. */
  blocks: number;
  isInterleaved: boolean;
  /** Size of the family: each target against the reference. */
  comparisons: number;
}

/** Two-sided, of the exact test of signed ranks when all pairs differ in one direction. */
const smallestPairedP = (rounds: number): number => 2 ** (1 - rounds);

/** Two-sided, of the exact Mann-Whitney test when all runs of one side lie above the other's. */
function smallestUnpairedP(n: number, m: number): number {
  let p = 2;
  for (let index = 1; index <= n; index++) p *= index / (m + index);
  return p;
}

const isPaired = ({ rounds, byTurns, isInterleaved, comparisons }: Design): boolean =>
  byTurns ||
  (isInterleaved && rounds >= MIN_ROUNDS_FOR_PAIRS && smallestPairedP(rounds) * comparisons <= LEVEL);

/** Whether the clearest result would pass the corrected test. */
function canDecide(design: Design): boolean {
  const { rounds, blocks, comparisons } = design;
  if (design.byTurns) return smallestPairedP(rounds) * comparisons <= LEVEL;
  if (rounds < MIN_ROUNDS_FOR_A_CLAIM) return false;
  return isPaired(design) || smallestUnpairedP(rounds, rounds * blocks) * comparisons <= LEVEL;
}

/** The fewest rounds that can decide it. */
function roundsToDecide(design: Design): number {
  let rounds = MIN_ROUNDS_FOR_A_CLAIM;
  while (!canDecide({ ...design, rounds })) rounds++;
  return rounds;
}

function outlookText(design: Design): string {
  const { rounds } = design;
  if (canDecide(design)) return isPaired(design) ? "paired by round" : "of unpaired runs";
  const remedy = `give --runs ${roundsToDecide(design)} or more`;
  return rounds < MIN_ROUNDS_FOR_A_CLAIM
    ? `indicative: ${counted(rounds, "run")} a side cannot show a difference, ${remedy}`
    : `which ${rounds} runs a side cannot decide: ${remedy}`;
}

function designOf({ order, runs_per_configuration: rounds }: Plan, ranking: Ranking): Design {
  const isInterleaved = order === "interleaved";
  return {
    rounds,
    byTurns: order === "turns",
    blocks: isInterleaved ? blockCount(ranking) : 1,
    isInterleaved,
    comparisons: originals(ranking.members).length - 1,
  };
}

/** What the rankings of a plan can decide, and whether some can decide nothing. */
export interface Decidable {
  /** E.g. `reference iovalkey + copy: 3 comparisons in each of 2 rankings, paired by round`. */
  lines: string[];
  /** The lines that a user should not miss: enough runs to rank few targets, too few for so many. */
  warnings: string[];
}

/** The comparisons that a plan's runs are for (M17); nothing where no two targets are ranked together. */
export function decidable(plan: Plan): Decidable {
  if (plan.max_rate || !plan.runs.some(isCounted)) return { lines: [], warnings: [] };
  const kinds = new Map<string, { design: Design; count: number; head: string }>();
  for (const ranking of plannedRankings(plan)) {
    const { members, reference } = ranking;
    const design = designOf(plan, ranking);
    if (!reference || design.comparisons === 0) continue;
    const copy = members.some(({ configuration: { target } }) => isCopy(target)) ? " + copy" : "";
    const head = `reference ${reference.configuration.target.label}${copy}`;
    const key = JSON.stringify([head, design]);
    kinds.set(key, { design, head, count: (kinds.get(key)?.count ?? 0) + 1 });
  }
  const lines = [...kinds.values()].map(({ design, head, count }) => {
    const each = count > 1 ? ` in each of ${count} rankings` : "";
    const text = `${head}: ${counted(design.comparisons, "comparison")}${each}, ${outlookText(design)}`;
    return { text, isWarning: !canDecide(design) && design.rounds >= MIN_ROUNDS_FOR_A_CLAIM };
  });
  return {
    lines: lines.map(({ text }) => text),
    warnings: lines.flatMap(({ text, isWarning }) => (isWarning ? [text] : [])),
  };
}
