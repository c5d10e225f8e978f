import { describe, expect, test } from "vitest";
import { judgeRun } from "../../../../src/judge/rules.js";
import {
  CONSUMES,
  evalsha,
  serverOf,
  storeOf,
  type ValidRun,
  validEvidence,
} from "../../../helpers/evidence.js";

test("a limiter that takes all descriptors in one call reconciles by calls; a failed call may have counted", () => {
  const run = validEvidence();
  const { consumes } = serverOf(run).at_end;
  if (!consumes) throw new Error("consumes");
  Object.assign(consumes, { allowed: 2 * (CONSUMES - 1), limited: 0, failed: 2 });
  const counting = (calls: number) => {
    Object.assign(storeOf(run).at_end, evalsha(calls));
    return judgeRun(run).reasons.filter(({ rule }) => rule === "M8").length;
  };
  expect([CONSUMES - 3, CONSUMES - 1, CONSUMES, CONSUMES + 1].map(counting)).toEqual([1, 0, 0, 1]);
});

describe("M8, decisions that are not one command each,", () => {
  const judged = (spoil: (run: ValidRun) => void) => {
    const run = validEvidence();
    spoil(run);
    return judgeRun(run).reasons.filter(({ rule }) => rule === "M8");
  };
  const consumesOf = (run: ValidRun) => {
    const { at_start, at_end } = serverOf(run);
    if (!at_start.consumes || !at_end.consumes) throw new Error("consumes");
    return { before: at_start.consumes, after: at_end.consumes };
  };

  test("are reconciled by their commands", () => {
    const plant = (run: ValidRun, difference: number): void => {
      const { before, after } = consumesOf(run);
      const node = storeOf(run);
      before.commands = 0;
      after.commands = 1_000_000;
      node.at_end.decisions = (node.at_start.decisions ?? 0) + 1_000_000 + difference;
    };
    expect(judged((run) => plant(run, 0))).toEqual([]);
    for (const difference of [-1, 1])
      expect(judged((run) => plant(run, difference))).toMatchObject([{ severity: "invalid" }]);
  });

  test("may lack denials in the store where the process denies itself, and nothing else", () => {
    const plant = (run: ValidRun, seen: (allowed: number, all: number) => number): void => {
      const { before, after } = consumesOf(run);
      if (run.configuration) run.configuration.target.decides_locally = true;
      const node = storeOf(run);
      const allowed = after.allowed - before.allowed;
      const all = allowed + after.limited - before.limited;
      node.at_end.decisions = (node.at_start.decisions ?? 0) + seen(allowed, all);
    };
    expect(judged((run) => plant(run, (allowed) => allowed))).toEqual([]);
    expect(judged((run) => plant(run, (_allowed, all) => all))).toEqual([]);
    expect(judged((run) => plant(run, (allowed) => allowed - 1))).toMatchObject([
      { severity: "invalid" },
    ]);
    expect(judged((run) => plant(run, (_allowed, all) => all + 1))).toMatchObject([
      { severity: "invalid" },
    ]);
  });

  test("may lack in the store what was decided without it, and no more", () => {
    const plant = (run: ValidRun, missing: number): void => {
      const { before, after } = consumesOf(run);
      before.without_store = 5;
      after.without_store = 12;
      const node = storeOf(run);
      const decided = after.allowed - before.allowed + after.limited - before.limited;
      node.at_end.decisions = (node.at_start.decisions ?? 0) + decided - missing;
    };
    for (const missing of [0, 7]) expect(judged((run) => plant(run, missing))).toEqual([]);
    expect(judged((run) => plant(run, 8))).toMatchObject([{ severity: "invalid" }]);
  });
});
