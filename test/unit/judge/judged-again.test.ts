import { expect, test } from "vitest";
import type { Verdict } from "../../../src/contract/judgement.js";
import type { MeasuredResult, Result } from "../../../src/contract/result.js";
import { judged } from "../../../src/judge/judged.js";
import {
  type ChangedResult,
  groupedChanges,
  judgedCampaign,
} from "../../../src/judge/judged-again.js";
import { verdictOf } from "../../../src/judge/rules.js";
import { validEvidence } from "../../helpers/evidence.js";

const SLICES_PER_TURN = 6;

/**
 * A stored result by turns with so many answers in each turn, of rules that found no fault in it.
 */
function byTurns(answers: readonly number[]): MeasuredResult {
  const run = validEvidence();
  const slices = answers.flatMap((count) =>
    Array<number>(SLICES_PER_TURN).fill(count / SLICES_PER_TURN),
  );
  const none = slices.map(() => 0);
  run.slices = { ...run.slices, allowed: slices, limited: none, failed: none };
  run.turns = {
    group: 4,
    turns: answers.length,
    lead_in_ms: 57,
    slice_ms: 600,
    drained_s: 0,
    reopened: { all: 0, without_cause: 0 },
  };
  const { rules_version: _, ...verdict } = verdictOf([]);
  return {
    ...judged(run),
    limited_by: { resource: "client", text: "the client was busy" },
    verdict,
  };
}

const STEADY = [5400, 5500, 5300, 5450, 5350];

const roundWith = (answers: readonly number[]) =>
  [answers, STEADY, STEADY.toReversed(), [5500, 5400, 5450, 5300, 5350]].map((turns, index) => ({
    file: `run-${index}.json`,
    place: "1/1",
    result: byTurns(turns),
  }));

const ofSteadiness = ({ reasons }: Verdict) => reasons.filter(({ rule }) => rule === "M26");

test("a target that collapses within a round is found from the stored results of the round", () => {
  const { changes } = judgedCampaign(roundWith([2753, 3387, 3317, 1936, 903]));
  const unsteady = changes.filter(({ verdict }) => ofSteadiness(verdict).length > 0);
  expect(unsteady).toMatchObject([
    {
      files: ["run-0.json"],
      before: "valid",
      judgement: { limited_by: { resource: "none" } },
    },
  ]);
});

test("a round of steady targets stays as it is", () => {
  const { changes } = judgedCampaign(roundWith(STEADY));
  expect(changes.flatMap(({ verdict }) => ofSteadiness(verdict))).toEqual([]);
});

test("what the present rules say alike is no change, whatever the version of the stored verdict", () => {
  const result = judged(validEvidence());
  const { rules_version: _, ...older } = result.verdict;
  expect(judgedCampaign([{ file: "a", result }]).changes).toEqual([]);
  expect(judgedCampaign([{ file: "a", result: { ...result, verdict: older } }]).changes).toEqual(
    [],
  );
});

test("what no result of a campaign holds is said once, and changes none of them", () => {
  const { admissions: _, ...older } = validEvidence();
  const { not_checked: __, ...stored } = judged(older).verdict;
  const result = { ...judged(older), verdict: stored };
  const campaign = [
    { file: "a", result },
    { file: "b", result },
  ];
  const { notChecked, changes } = judgedCampaign(campaign);
  expect(notChecked.map(({ rule }) => rule)).toEqual(["M27"]);
  expect(changes).toEqual([]);
  const newer = [...campaign, { file: "c", result: judged(validEvidence()) }];
  expect(judgedCampaign(newer)).toMatchObject({
    notChecked: [],
    changes: [{ files: ["a"] }, { files: ["b"] }],
  });
});

test("a run without figures has failed whatever the rules", () => {
  const { schema, schema_version, run, load_text, started_at, finished_at } = validEvidence();
  const failed: Result = {
    schema,
    schema_version,
    run,
    load_text,
    started_at,
    finished_at,
    notes: [],
    status: "failed",
    failure: { role: "server-1", text: "ended with 137" },
    verdict: verdictOf([]),
  };
  expect(judgedCampaign([{ file: "a", result: failed }])).toEqual({ notChecked: [], changes: [] });
});

test("changes with one text are one, and in the order of their files", () => {
  const change = (file: string, verdict: Verdict): ChangedResult => ({
    files: [file],
    verdict,
    before: "valid",
  });
  const valid = verdictOf([]);
  const invalid = verdictOf([{ rule: "M1", severity: "invalid", text: "no" }]);
  expect(groupedChanges([change("c", valid), change("b", invalid), change("a", valid)])).toEqual([
    { files: ["a", "c"], verdict: valid },
    { files: ["b"], verdict: invalid },
  ]);
});
