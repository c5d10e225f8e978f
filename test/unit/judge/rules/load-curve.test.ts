import { describe, expect, test } from "vitest";
import { loadedS } from "../../../../src/judge/counts.js";
import { isOverloaded, targetOutcome } from "../../../../src/judge/outcome.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import { openLoopEvidence, type ValidRun, validEvidence } from "../../../helpers/evidence.js";

type Turns = NonNullable<ValidRun["turns"]>;

const TURNS: Turns = {
  curve: true,
  group: 2,
  turns: 1,
  lead_in_ms: 200,
  slice_ms: 5_000,
  drained_s: 0.4,
};

/** A run of a load curve to which no rule objects. */
function curveRun(run: ValidRun = openLoopEvidence(), turns: Partial<Turns> = {}): ValidRun {
  run.turns = { ...TURNS, ...turns };
  run.warmup = { ...run.warmup, steady: true };
  return run;
}

const reasons = (run: ValidRun) =>
  judgeRun(run).reasons.map(({ rule, severity }) => `${rule} ${severity}`);

test("one turn suffices: few cycles are no defect, and an open loop reopens no connection without cause", () => {
  const notChecked = (run: ValidRun) => judgeRun(run).not_checked?.map(({ rule }) => rule) ?? [];
  expect(reasons(curveRun())).toEqual([]);
  expect(notChecked(curveRun())).not.toContain("M16");
  // Of a closed loop it is known how often connections were opened again.
  expect(notChecked(curveRun(validEvidence()))).toContain("M16");
});

test("a warm-up that ended unsteady makes each of its runs suspect, and its length makes none so", () => {
  const run = curveRun();
  run.warmup.steady = false;
  expect(reasons(run)).toEqual(["M26 suspect"]);
  delete run.warmup.steady;
  expect(reasons(run)).toEqual([]);
});

describe("the backlog of a turn (M3)", () => {
  const backlog = (at_open: number, at_shut: number) =>
    curveRun(openLoopEvidence(), { backlog: { at_open, at_shut } });

  test("grows where a target is far too slow and still has a free connection for each request", () => {
    const run = backlog(100, 1_500);
    expect(reasons(run)).toEqual(["M5 invalid"]);
    expect(targetOutcome(run, judgeRun(run)).outcome).toBe("overloaded");
  });

  test("may be high from beginning to end, grow by chance, or by a pause of the target", () => {
    for (const run of [backlog(1_500, 1_500), backlog(3_000, 3_200), backlog(0, 300)])
      expect(reasons(run)).toEqual([]);
  });

  test("is not the target's where the generator was saturated", () => {
    const run = backlog(100, 1_500);
    for (const { workers } of run.generators)
      for (const worker of workers) worker.event_loop_utilisation = 0.99;
    expect(isOverloaded(run)).toBe(false);
    expect(reasons(run)).toEqual(["M6 suspect"]);
  });
});

test("cores are those of the time in which the load ran, because answers after it belong to its rate", () => {
  const run = curveRun();
  run.warmup.lead_in.took_s = 0.2;
  expect(loadedS(run)).toBeCloseTo(run.duration + 0.2, 9);
  run.turns = { ...TURNS };
  delete run.turns.curve;
  expect(loadedS(run)).toBeCloseTo(run.duration + 0.6, 9);
});

test("counts reconcile with what is sent between the two readings of the turn (M8)", () => {
  const run = curveRun();
  const [server] = run.consumers;
  if (server) server.at_end.requests += 1;
  expect(reasons(run)).toEqual(["M8 invalid"]);
});

test("late sends make its latency suspect, and spoil a run in a continuous window alone (M5)", () => {
  const late = (run: ValidRun): ValidRun => {
    if (run.schedule?.lateness_ms) run.schedule.lateness_ms.p99 = 10 * (run.latency?.p99 ?? 0) + 2;
    return run;
  };
  expect(reasons(late(curveRun()))).toEqual(["M5 suspect"]);
  expect(reasons(late(openLoopEvidence()))).toEqual(["M5 invalid"]);
});
