import { isCounted, type Order, type Plan } from "../../contract/plan.js";
import {
  LEVEL,
  MARGIN_SHARE,
  MIN_ROUNDS_TO_PAIR,
  MIN_RUNS,
  smallestPairedP,
  smallestUnpairedP,
  USUAL_PAIR_DEVIATION,
} from "../../contract/statistics.js";
import { isCopy } from "../../targets/options.js";
import { defaultOf } from "../request/settings.js";
import { counted, durationText } from "../ui/text.js";
import { type PairKind, readErrorBudget, systematicError } from "./error-budget.js";
import { estimateCampaignS, type Overheads } from "./estimate.js";
import { detectableDifference, roundsForNoDifference } from "./power-of-pairs.js";
import { plannedRankings, type Ranking } from "./rankings.js";
import {
  kindsOfComparisons,
  type Undecidable,
  undecidableIn,
  undecidableLines,
  whoText,
} from "./undecidable.js";

/** The runs of the original, which decide nothing, and for which there is no warning. */
const PLAIN_RUNS = Number(defaultOf("runs"));

interface Design {
  rounds: number;
  order: Order;
  /** The size of the family, in which each target is compared with the reference. */
  comparisons: number;
  /** The largest difference that does not matter to the reader, as a share. */
  margin: number;
}

/** Whether the clearest result would pass the corrected test by pairs. */
const pairsDecide = ({ rounds, comparisons }: Design): boolean =>
  smallestPairedP(rounds) * comparisons <= LEVEL;

const isPaired = (design: Design): boolean =>
  design.order === "turns" ||
  (design.order === "interleaved" && design.rounds >= MIN_ROUNDS_TO_PAIR && pairsDecide(design));

function canDecide(design: Design): boolean {
  if (isPaired(design)) return pairsDecide(design);
  const { rounds, comparisons } = design;
  return rounds >= MIN_RUNS && smallestUnpairedP(rounds) * comparisons <= LEVEL;
}

export function roundsToDecide(design: Design): number {
  let rounds = 1;
  while (!canDecide({ ...design, rounds })) rounds++;
  return rounds;
}

/** The design of a ranking's comparisons. */
export function designOf(plan: Plan, { family }: Ranking): Design {
  const { order, runs_per_configuration: rounds, margin_percent } = plan;
  const margin = margin_percent === undefined ? MARGIN_SHARE : margin_percent / 100;
  return { rounds, order, comparisons: family, margin };
}

/** The number of rounds with which every ranking can decide, which is at least that of the plan. */
export const roundsThatDecide = (plan: Plan): number =>
  Math.max(
    plan.runs_per_configuration,
    ...comparedRankings(plan).map((ranking) => roundsToDecide(designOf(plan, ranking))),
  );

function outlookText(design: Design): string {
  const rounds = roundsToDecide(design);
  return canDecide(design)
    ? `${isPaired(design) ? "paired by round" : "of unpaired runs"}, which ${rounds} rounds can decide`
    : `which ${counted(design.rounds, "round")} cannot decide: give --runs ${rounds} or more`;
}

/**
 * What rounds by turns find of some pairs where those of a round lie as far apart as usual, and what
 * they would take to find no difference. It is empty in other orders, and where the rounds decide
 * nothing.
 */
function sensitivityText(design: Design, { reference }: Ranking, pairs: PairKind): string {
  if (design.order !== "turns" || !canDecide(design) || !reference) return "";

  const { layer, load } = reference.configuration;
  const figure = load.model === "open" ? "p99" : "throughput";
  const { share, unmeasured } = systematicError(readErrorBudget(), { layer, figure, pairs });
  const simulated = { ...design, deviation: USUAL_PAIR_DEVIATION, systematic: share };
  const smallest = detectableDifference(simulated);
  if (smallest === undefined) return "";

  const rounds = roundsForNoDifference(simulated);
  const takes = rounds === undefined ? "more than 1000 rounds" : `about ${rounds} rounds`;
  const equal = `that there is none (± ${percentText(design.margin)})`;
  const equality =
    unmeasured.length > 0
      ? `${equal} would take ${takes}, if the systematic error were measured`
      : `${equal} takes ${takes}`;
  return (
    `where a pair deviates by ${percentText(USUAL_PAIR_DEVIATION)}, as usual, ${counted(design.rounds, "round")} ` +
    `find a difference of ${percentText(smallest)} in four of five campaigns; ${equality}`
  );
}

const percentText = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;

/** Lines on what the rankings of a plan can decide. */
export interface Decidable {
  /** Lines such as `reference iovalkey + copy: 3 comparisons in each of 2 rankings, …`. */
  lines: string[];
  /** The lines on rankings that decide nothing in spite of many runs, which a user should not miss. */
  warnings: string[];
}

const SPARE_ROUND_TEXT =
  "one spare round is made only where invalid runs leave a comparison one round short of a decision";

/** What no number of rounds can tell in the rankings of a plan by turns (M34), once each. */
export function undecidable(plan: Plan): Undecidable[] {
  if (plan.order !== "turns") return [];
  const entries = comparedRankings(plan).flatMap((ranking) =>
    undecidableIn(ranking, designOf(plan, ranking).margin),
  );
  const byContent = new Map(entries.map((entry) => [JSON.stringify(entry), entry]));
  return [...byContent.values()];
}

/** Lines on what the rounds of a plan find, and on what no number of them can tell. */
function powerLines(plan: Plan): string[] {
  const deciding = comparedRankings(plan).filter((ranking) => canDecide(designOf(plan, ranking)));
  if (deciding.length === 0) return [];
  return [...sensitivityLines(plan, deciding), ...undecidableLines(undecidable(plan))];
}

/** The texts of `sensitivityText`. They say what they are about where they differ. */
function sensitivityLines(plan: Plan, rankings: readonly Ranking[]): string[] {
  const layers = new Set(rankings.map(({ reference }) => reference?.configuration.layer));
  const texts = new Set<string>();
  const textsWithWho = new Set<string>();
  for (const ranking of rankings) {
    const layer = ranking.reference?.configuration.layer;
    if (layer === undefined) continue;
    for (const pairs of kindsOfComparisons(ranking)) {
      const text = sensitivityText(designOf(plan, ranking), ranking, pairs);
      if (text === "") continue;
      texts.add(text);
      textsWithWho.add(`${whoText(layer, pairs, layers.size > 1)}: ${text}`);
    }
  }
  return [...(texts.size > 1 ? textsWithWho : texts)];
}

/** The comparisons of a plan's runs (M17); empty where no two targets are ranked together. */
export function decidable(plan: Plan): Decidable {
  const isOfCurve = plan.load_curve !== undefined;
  const kinds = new Map<string, { design: Design; count: number; head: string }>();
  for (const ranking of comparedRankings(plan)) {
    const { members, reference } = ranking;
    const design = designOf(plan, ranking);
    const copy = members.some(({ configuration: { target } }) => isCopy(target)) ? " + copy" : "";
    const head = `reference ${reference?.configuration.target.label}${copy}`;
    const key = JSON.stringify([head, design]);
    kinds.set(key, { design, head, count: (kinds.get(key)?.count ?? 0) + 1 });
  }
  const lines = [...kinds.values()].map(({ design, head, count }) => {
    // The rankings of a load curve are one family, whose comparisons they all have.
    const of = isOfCurve ? `at ${count} loads` : `in each of ${count} rankings`;
    const rankings = count > 1 ? ` ${of}` : "";
    const comparisons = counted(design.comparisons, "comparison");
    const text = `${head}: ${comparisons}${rankings}, ${outlookText(design)}`;
    return { text, isWarning: !canDecide(design) && design.rounds > PLAIN_RUNS };
  });
  return {
    lines: [
      ...lines.map(({ text }) => text),
      ...powerLines(plan),
      ...(plan.spare_runs ? [SPARE_ROUND_TEXT] : []),
    ],
    warnings: lines.flatMap(({ text, isWarning }) => (isWarning ? [text] : [])),
  };
}

/** The rankings in which two targets or more are compared. */
export const comparedRankings = (plan: Plan) =>
  plan.max_rate || !plan.runs.some(isCounted)
    ? []
    : plannedRankings(plan).filter(({ reference, family }) => reference && family > 0);

/** The rounds one by one that show a difference of 10 % four times of five (decision 29). */
const ROUNDS_ONE_BY_ONE = 55;

/** A line on how much more time a conclusion takes without turns; empty for a plan by turns. */
export function costOfOrder(plan: Plan, overheads: Overheads): string[] {
  const { order, runs_per_configuration: rounds } = plan;
  if (
    order === "turns" ||
    plan.adaptive ||
    rounds >= ROUNDS_ONE_BY_ONE ||
    comparedRankings(plan).length === 0
  )
    return [];
  const more_s = (ROUNDS_ONE_BY_ONE / rounds - 1) * estimateCampaignS(plan, overheads);
  return [
    `${order}: on a shared machine a difference of 10 % takes about ${ROUNDS_ONE_BY_ONE} rounds, about ${durationText(more_s)} more`,
  ];
}
