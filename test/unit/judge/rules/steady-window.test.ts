import { expect, test } from "vitest";
import { judgeRun } from "../../../../src/judge/rules.js";
import { validEvidence } from "../../../helpers/evidence.js";

test("M26 names the figures, the warm-up and the remedy", () => {
  const run = validEvidence();
  run.warmup = { ...run.warmup, took_s: 10.02, steady: false };
  run.slices.allowed.fill(90, 0, 10);
  const text = judgeRun(run).reasons.find(({ rule }) => rule === "M26")?.text;
  for (const part of ["1100", "2000", "10 s", "--warmup"]) expect(text).toContain(part);
});

test("M26 does not blame the target for what other programs explain; then M25 says so", () => {
  const run = validEvidence();
  run.slices.allowed.fill(90, 0, 10);
  run.host_load = { cpus: 2, busy_cpu_percent: 195, foreign_cpu_percent: 60 };
  const { reasons, not_applicable } = judgeRun(run);
  expect(reasons.map(({ rule }) => rule)).toContain("M25");
  expect(reasons.map(({ rule }) => rule)).not.toContain("M26");
  expect(not_applicable.map(({ rule }) => rule)).toContain("M26");
});
