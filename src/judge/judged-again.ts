import type { Judgement, RuleText, Verdict } from "../contract/judgement.js";
import type { Slices } from "../contract/request-outcomes.js";
import {
  hasFigures,
  type MeasuredResult,
  type PrintedResult,
  type Result,
} from "../contract/result.js";
import type { VerdictChange } from "../contract/verdicts.js";
import { definedOnly } from "../kit/defined-only.js";
import { sum } from "../kit/numbers.js";
import { judged } from "./judged.js";
import { SLICE_MS } from "./merging/slices.js";
import { judgedPrinted } from "./printed.js";
import { halvesOf } from "./steadiness.js";

/** A stored result of a campaign. */
export interface StoredResult {
  file: string;
  /** Results of the same place were measured by turns. It is absent where a run was alone. */
  place?: string | undefined;
  result: Result;
}

type Round = readonly StoredResult[];

/** The answers in each turn, or undefined where the slices do not make whole turns. */
function answersByTurn({ turns, slices }: MeasuredResult): number[] | undefined {
  const perTurn = (turns?.slice_ms ?? 0) / SLICE_MS;
  if (!turns || slices.allowed.length !== turns.turns * perTurn) return undefined;
  const answersIn = ({ allowed, limited }: Slices, from: number) =>
    sum([...allowed.slice(from, from + perTurn), ...limited.slice(from, from + perTurn)]);
  return Array.from({ length: turns.turns }, (_, turn) => answersIn(slices, turn * perTurn));
}

/** The results of a round by file, with their halves recomputed by the present rules. */
function withHalves(round: Round): Map<string, MeasuredResult> {
  const members = round.flatMap(({ file, result }) => {
    const answers = result.status === "measured" ? answersByTurn(result) : undefined;
    return result.status === "measured" && answers ? [{ file, result, answers }] : [];
  });
  const halves = halvesOf(members.map(({ answers }) => answers));
  return new Map(
    members.map(({ file, result }, index) => {
      const { halves: _stored, ...turns } = result.turns ?? {};
      const judgedTurns = definedOnly({ ...turns, halves: halves[index] });
      return [file, { ...result, turns: judgedTurns as MeasuredResult["turns"] }] as const;
    }),
  );
}

const isEqual = (left: unknown, right: unknown): boolean =>
  JSON.stringify(left) === JSON.stringify(right);

/**
 * A verdict without its version, and without what no result of its campaign could be
 * checked for.
 */
function comparableVerdict(
  { not_checked = [], ...verdict }: Verdict,
  shared: readonly RuleText[],
): Verdict {
  const { rules_version: _, ...conclusions } = verdict;
  const unshared = not_checked.filter(
    (missing) => !shared.some((sharedText) => isEqual(missing, sharedText)),
  );
  return definedOnly({
    ...conclusions,
    not_checked: unshared.length > 0 ? unshared : undefined,
  });
}

function judgementOf(result: MeasuredResult | PrintedResult): Judgement {
  const { limited_by, outcome } = result;
  const outcome_text = "outcome_text" in result ? result.outcome_text : undefined;
  return definedOnly({ limited_by, outcome, outcome_text });
}

function judgedByPresentRules(
  result: MeasuredResult | PrintedResult,
): MeasuredResult | PrintedResult {
  const { verdict: _verdict, limited_by: _limit, outcome: _outcome, ...evidence } = result;
  if (evidence.status === "printed") return judgedPrinted(evidence);
  const { outcome_text: _text, ...measured } = evidence;
  return judged(measured);
}

/** A result whose conclusions the present rules change. */
export interface ChangedResult extends VerdictChange {
  before: Verdict["status"];
}

/** What the present rules conclude about the results of a campaign. */
interface CampaignByRules {
  /** The rules that could not be checked, because none of the results holds their evidence. */
  notChecked: RuleText[];
  /** The results whose stored conclusions differ from those of the present rules, in order. */
  changes: ChangedResult[];
}

/**
 * The results of a campaign. The present rules recompute the halves of results that belong
 * to rounds.
 */
function withPresentHalves(results: readonly StoredResult[]): StoredResult[] {
  const rounds = new Map<string, StoredResult[]>();
  for (const stored of results)
    if (stored.place !== undefined)
      rounds.set(stored.place, [...(rounds.get(stored.place) ?? []), stored]);
  const byTurns = new Map([...rounds.values()].flatMap((round) => [...withHalves(round)]));
  return results.map((stored) => ({
    ...stored,
    result: byTurns.get(stored.file) ?? stored.result,
  }));
}

/**
 * Judges the results of a campaign by the present rules. Runs without figures are left out, because
 * they have failed whatever the rules.
 */
export function judgedCampaign(results: readonly StoredResult[]): CampaignByRules {
  const judgedResults = withPresentHalves(results).flatMap(({ file, result }) =>
    hasFigures(result) ? [{ file, stored: result, present: judgedByPresentRules(result) }] : [],
  );
  const [first, ...others] = judgedResults.map(({ present }) => present.verdict.not_checked ?? []);
  const notChecked = (first ?? []).filter((missing) =>
    others.every((texts) => texts.some((text) => isEqual(missing, text))),
  );
  const changes = judgedResults.flatMap(({ file, stored, present }): ChangedResult[] => {
    const verdict = comparableVerdict(present.verdict, notChecked);
    const judgement = judgementOf(present);
    const isSameJudgement = isEqual(judgementOf(stored), judgement);
    if (isSameJudgement && isEqual(comparableVerdict(stored.verdict, notChecked), verdict))
      return [];
    const { status: statusBefore } = stored.verdict;

    return [
      definedOnly({
        files: [file],
        verdict,
        judgement: isSameJudgement ? undefined : judgement,
        before: statusBefore,
      }),
    ];
  });

  return { notChecked, changes };
}

/** Joins changes that differ in their files alone, so that a document of them stays small. */
export function groupedChanges(changes: readonly ChangedResult[]): VerdictChange[] {
  const groups = new Map<string, VerdictChange>();
  for (const { files, before: _, ...change } of changes) {
    const text = JSON.stringify(change);
    groups.set(text, {
      ...change,
      files: [...(groups.get(text)?.files ?? []), ...files].toSorted(),
    });
  }
  return [...groups.values()].toSorted((a, b) =>
    (a.files[0] ?? "") < (b.files[0] ?? "") ? -1 : 1,
  );
}
