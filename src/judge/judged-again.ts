import {
  hasFigures,
  type Judgement,
  type MeasuredResult,
  type PrintedResult,
  type Result,
  type RuleText,
  type Slices,
  type Verdict,
} from "../contract/result.js";
import type { VerdictChange } from "../contract/verdicts.js";
import { sum } from "../kit/numbers.js";
import { judged } from "./judged.js";
import { SLICE_MS } from "./merging/slices.js";
import { judgedPrinted } from "./printed.js";
import { halvesOf } from "./steadiness.js";

/** A stored result of a campaign. */
export interface StoredResult {
  file: string;
  /** Results with one place were measured in turn; absent where a run had the load alone. */
  place?: string | undefined;
  result: Result;
}

type Round = readonly StoredResult[];

/** The answers in each turn. @returns undefined where the slices are not those of whole turns */
function answersByTurn({ turns, slices }: MeasuredResult): number[] | undefined {
  const perTurn = (turns?.slice_ms ?? 0) / SLICE_MS;
  if (!turns || slices.allowed.length !== turns.turns * perTurn) return undefined;
  const answersIn = ({ allowed, limited }: Slices, from: number) =>
    sum([...allowed.slice(from, from + perTurn), ...limited.slice(from, from + perTurn)]);
  return Array.from({ length: turns.turns }, (_, turn) => answersIn(slices, turn * perTurn));
}

/** The results of a round with their halves by the present rules, by file. */
function withHalves(round: Round): Map<string, MeasuredResult> {
  const members = round.flatMap(({ file, result }) => {
    const answers = result.status === "measured" ? answersByTurn(result) : undefined;
    return result.status === "measured" && answers ? [{ file, result, answers }] : [];
  });
  const halves = halvesOf(members.map(({ answers }) => answers));
  return new Map(
    members.map(({ file, result }, index) => {
      const { halves: _stored, ...turns } = result.turns ?? {};
      const ofMember = halves[index];
      const facts = {
        ...turns,
        ...(ofMember ? { halves: ofMember } : {}),
      } as MeasuredResult["turns"];
      return [file, { ...result, turns: facts }] as const;
    }),
  );
}

const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** A verdict less its version and what is not checked of all results of its campaign. */
function ownVerdict(
  { not_checked = [], ...verdict }: Verdict,
  shared: readonly RuleText[],
): Verdict {
  const { rules_version: _, ...said } = verdict;
  const own = not_checked.filter((each) => !shared.some((other) => isEqual(each, other)));
  return { ...said, ...(own.length > 0 ? { not_checked: own } : {}) };
}

function judgementOf(result: MeasuredResult | PrintedResult): Judgement {
  const { limited_by, outcome } = result;
  const outcome_text = "outcome_text" in result ? result.outcome_text : undefined;
  return {
    ...(limited_by ? { limited_by } : {}),
    ...(outcome ? { outcome } : {}),
    ...(outcome_text ? { outcome_text } : {}),
  };
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

/** What the present rules say of the results of a campaign. */
interface CampaignByRules {
  /** What none of the results holds. */
  notChecked: RuleText[];
  /**
   * Of the results of which the rules say anything else than what is stored, in the order of the
   * results.
   */
  changes: ChangedResult[];
}

/** The results of a campaign, those of one round with their halves by the present rules. */
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
 * Judges the results of a campaign by the present rules; a run without figures has failed, whatever
 * the rules.
 */
export function judgedCampaign(results: readonly StoredResult[]): CampaignByRules {
  const judgedResults = withPresentHalves(results).flatMap(({ file, result }) =>
    hasFigures(result) ? [{ file, stored: result, present: judgedByPresentRules(result) }] : [],
  );
  const [first, ...others] = judgedResults.map(({ present }) => present.verdict.not_checked ?? []);
  const notChecked = (first ?? []).filter((each) =>
    others.every((texts) => texts.some((other) => isEqual(each, other))),
  );
  const changes = judgedResults.flatMap(({ file, stored, present }): ChangedResult[] => {
    const verdict = ownVerdict(present.verdict, notChecked);
    const judgement = judgementOf(present);
    const isSameJudgement = isEqual(judgementOf(stored), judgement);
    if (isSameJudgement && isEqual(ownVerdict(stored.verdict, notChecked), verdict)) return [];
    const { status: before } = stored.verdict;
    return [{ files: [file], verdict, ...(isSameJudgement ? {} : { judgement }), before }];
  });
  return { notChecked, changes };
}

/** Changes with one text as one, so that a file of them stays small. */
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
