import { expect, test } from "vitest";
import { judgeRun } from "../../../../src/judge/rules.js";
import { serverOf, storeOf, validEvidence } from "../../../helpers/evidence.js";

test("rules that need evidence which a store does not give are not applicable", () => {
  const run = validEvidence();
  const { version, uptime_s } = storeOf(run).at_end;
  run.store.nodes = [
    { role: "store-1", at_start: { version, uptime_s }, at_end: { version, uptime_s } },
  ];
  delete serverOf(run).limiter_script;
  const { status, not_applicable } = judgeRun(run);
  expect(status).toBe("valid");
  expect(not_applicable.map(({ rule }) => rule)).toEqual(["M8", "M13", "M14", "M14"]);
});

test("a store without an id of its process has restarted if it is younger than the window", () => {
  const judged = (uptime_s: number) => {
    const run = validEvidence();
    const { version } = storeOf(run).at_end;
    const at_start = { version, uptime_s: 3 };
    run.store.nodes = [{ role: "store-1", at_start, at_end: { version, uptime_s } }];
    delete serverOf(run).limiter_script;
    return judgeRun(run).reasons.map(({ rule }) => rule);
  };
  const { duration } = validEvidence();
  expect(judged(Math.ceil(3 + duration))).toEqual([]);
  expect(judged(1)).toEqual(["M14"]);
});
