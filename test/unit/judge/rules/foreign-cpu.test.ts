import { describe, expect, test } from "vitest";
import { judgeRun } from "../../../../src/judge/rules.js";
import { generatorOf, type ValidRun, validEvidence } from "../../../helpers/evidence.js";

type Spoil = (run: ValidRun) => void;

const starve = (run: ValidRun): void => {
  for (const worker of generatorOf(run).workers) worker.cpu_wait_share = 0.8;
};

describe("M25, CPU time of other programs,", () => {
  const judged = (foreign_cpu_percent: number, spoil: Spoil = () => {}) => {
    const run = validEvidence();
    run.host_load = { cpus: 2, busy_cpu_percent: 190, foreign_cpu_percent };
    spoil(run);
    return judgeRun(run);
  };

  test("is a reason from a tenth of one CPU on, with the figure", () => {
    expect(judged(9.9).status).toBe("valid");
    expect(judged(10)).toMatchObject({ status: "suspect" });
    expect(judged(188.4).reasons).toEqual([
      { rule: "M25", severity: "suspect", text: expect.stringContaining("188 %") },
    ]);
  });

  test("is the only reason for a generator that waited for a CPU; roles that wait for each other are not a reason", () => {
    expect(judged(3, starve)).toMatchObject({ status: "valid", reasons: [] });
    expect(judged(120, starve).reasons.map(({ rule }) => rule)).toEqual(["M25"]);
  });

  test("is unknown if the system does not report it", () => {
    const run = validEvidence();
    delete run.host_load;
    expect(judgeRun(run)).toMatchObject({ status: "valid", not_applicable: [{ rule: "M25" }] });
  });
});
