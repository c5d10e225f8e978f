import { describe, expect, test } from "vitest";
import { admissionsOf } from "../../../../src/judge/admission-accounting.js";
import { targetOutcome } from "../../../../src/judge/outcome.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import {
  addFailures,
  generatorOf,
  type ValidRun,
  validEvidence,
} from "../../../helpers/evidence.js";

test("without a reading of the generator's clock M36 is not checked", () => {
  const run = validEvidence();
  delete generatorOf(run).longest_gap_ms;
  expect(judgeRun(run).not_checked?.map(({ rule }) => rule)).toEqual(["M36"]);
  delete run.clock_change;
  expect(judgeRun(run).not_checked?.map(({ rule }) => rule)).toEqual(["M36"]);
  generatorOf(run).longest_gap_ms = 2000;
  expect(judgeRun(run)).toMatchObject({ status: "invalid", reasons: [{ rule: "M36" }] });
});

test("the load generator may stand still for a hundredth of a long window", () => {
  const reasonsIn = (duration: number, longest_gap_ms: number) => {
    const run = { ...validEvidence(), duration };
    generatorOf(run).longest_gap_ms = longest_gap_ms;
    return judgeRun(run).reasons.flatMap(({ rule, text }) => (rule === "M36" ? [text] : []));
  };
  expect(reasonsIn(60, 600)).toEqual([]);
  expect(reasonsIn(60, 601)).toEqual([expect.stringContaining("0.60 s")]);
  expect(reasonsIn(5, 100)).toEqual([]);
});

test("our own control group that was throttled for longer than anything may stand still makes a run invalid [R-throttled-1]", () => {
  const run = validEvidence();
  run.own_throttling = { periods: 100, throttled_periods: 90, throttled_us: 4_000_000 };
  const reasons = judgeRun(run).reasons.map(({ rule, severity }) => `${rule} ${severity}`);
  expect(reasons).toEqual(["M36 invalid", "M14 suspect"]);
  expect(judgeRun(run).reasons[0]?.text).toContain("4.0 s");
});

describe("where something outside the target spoiled the run", () => {
  const outside: Record<string, (run: ValidRun) => void> = {
    "a generator that stood still": (run) => (generatorOf(run).longest_gap_ms = 2000),
    "a control group that was throttled": (run) =>
      (run.own_throttling = { periods: 100, throttled_periods: 90, throttled_us: 4_000_000 }),
    "a clock that was set": (run) => (run.clock_change = { changed_ms: -3_600_000, over_s: 12 }),
  };

  test.each(Object.entries(outside))(
    "%s is the reason, not what target or store seem to do [R-standstill-2] [R-clock-1]",
    (_, spoil) => {
      const run = validEvidence();
      run.admissions = admissionsOf([{ key: "a", least: 10, most: 10, counted: 4 }]);
      run.slices.allowed = run.slices.allowed.map((count, index) =>
        index < 10 ? count / 2 : count,
      );
      expect(judgeRun(run).reasons.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining(["M26", "M27"]),
      );
      spoil(run);
      const verdict = judgeRun(run);
      const reasons = verdict.reasons.map(({ rule }) => rule);
      expect(reasons).toContain("M36");
      expect(reasons).not.toContain("M26");
      expect(reasons).not.toContain("M27");
      expect(verdict.not_applicable.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining(["M26", "M27"]),
      );
      expect(targetOutcome(run, verdict)).toEqual({});
    },
  );

  test("requests that failed meanwhile are no outcome of the target", () => {
    const run = validEvidence();
    addFailures(run, "timed_out", 100);
    generatorOf(run).longest_gap_ms = 15_000;
    expect(targetOutcome(run, judgeRun(run))).toEqual({});
  });
});
