import { describe, expect, test } from "vitest";
import { targetOutcome } from "../../../src/judge/outcome.js";
import { judgeRun, RULES_VERSION } from "../../../src/judge/rules.js";
import {
  addFailures,
  CONSUMES,
  evalsha,
  generatorOf,
  histogramOf,
  openLoopEvidence,
  reading,
  serverOf,
  storeOf,
  type ValidRun,
  validEvidence,
} from "../../helpers/evidence.js";

const harmless: Record<string, (run: ValidRun) => void> = {
  "requests that failed: what the target did is its outcome": (run) => {
    for (const kind of ["failed_answers", "connection_errors", "timed_out"] as const) {
      addFailures(run, kind, 100);
      addFailures(run, kind, 1, "after it");
    }
  },
  "a script call whose consume failed, run or not": (run) => {
    const { consumes } = serverOf(run).at_end;
    if (consumes) Object.assign(consumes, { calls: consumes.calls + 2, failed: 2 });
    Object.assign(storeOf(run).at_end, evalsha(CONSUMES + 1));
  },
  "lost and timed-out requests that never reached the server": (run) => {
    addFailures(run, "timed_out", 3);
    addFailures(run, "connection_errors", 2, "after it");
    serverOf(run).at_end.requests -= 5;
  },
  "consumes that are still under way, because nobody waits for them any more, run or not": (
    run,
  ) => {
    const { at_end } = serverOf(run);
    addFailures(run, "timed_out", 3);
    at_end.in_flight = 3;
    if (at_end.consumes) at_end.consumes.calls += 3;
    Object.assign(storeOf(run).at_end, evalsha(CONSUMES + 2));
  },
  "calls under several commands": (run) => {
    const script_calls = {
      eval: { calls: 5, failed: 0 },
      evalsha: { calls: CONSUMES - 4, failed: 1 },
    };
    Object.assign(storeOf(run).at_end, { decisions: CONSUMES, script_calls });
  },
  "calls on several nodes": (run) => {
    run.store.nodes.push({ role: "store-2", at_start: reading(), at_end: reading(evalsha(40, 3)) });
    Object.assign(storeOf(run).at_end, evalsha(CONSUMES - 37));
    run.resources["store-2"] = run.resources["store-1"] as NonNullable<
      (typeof run.resources)[string]
    >;
  },
  "evictions before the run": (run) => {
    storeOf(run).at_start.evicted_keys = 7;
    storeOf(run).at_end.evicted_keys = 7;
  },
};

test.each(Object.entries(harmless))("%s: no rule objects", (_what, change) => {
  const run = validEvidence();
  change(run);
  expect(judgeRun(run)).toMatchObject({ status: "valid", reasons: [] });
});

test("invalid outweighs suspect, and both reasons are reported", () => {
  const run = validEvidence();
  storeOf(run).at_end.evicted_keys = 1;
  storeOf(run).at_start.keys = 1;
  const { status, reasons } = judgeRun(run);
  expect(status).toBe("invalid");
  expect(reasons.map(({ severity }) => severity)).toEqual(["invalid", "suspect"]);
});

test("a run without any request is invalid, not an empty valid one", () => {
  const run = validEvidence();
  const none = { allowed: 0, limited: 0, failed_answers: 0, connection_errors: 0, timed_out: 0 };
  const nothing = { ...none, sent: 0, followed: 0, after_window: none, cut: 0, by_code: {} };
  run.counts = nothing;
  const empty = histogramOf(0);
  const histograms = { allowed: empty, limited: empty, failed: empty, censored: empty };
  Object.assign(generatorOf(run), { counts: nothing, histograms });
  run.requests = { average: 0, total: 0 };
  delete run.latency;
  const { status, reasons } = judgeRun(run);
  expect(status).toBe("invalid");
  expect(reasons.map(({ rule }) => rule)).toContain("M9");
});

describe("a rule that cannot be applied says why, and neither passes nor fails the run", () => {
  test("for a foreign server", () => {
    const { store: _t, prediction: _p, configuration: _c, ...evidence } = validEvidence();
    const { status, not_applicable } = judgeRun({ ...evidence, consumers: [] });
    expect(status).toBe("valid");
    expect(not_applicable.map(({ rule }) => rule)).toEqual([
      "M8",
      "M10",
      "M11",
      "M12",
      "M13",
      "M15",
      "M19",
    ]);
  });

  test("Little's law with few answers or with failures among them", () => {
    const run = validEvidence();
    addFailures(run, "connection_errors", 1);
    expect(judgeRun(run).not_applicable.map(({ rule }) => rule)).toEqual(["M7"]);
  });
});

test("failed requests may have been allowed or limited: a mix that they explain is the target's outcome", () => {
  const run = validEvidence();
  // A store that fails for half of the consumes, while exhausted keys are rejected without it.
  addFailures(run, "failed_answers", 10_000);
  run.prediction = { ...run.prediction, limited_share: 0.05 };
  const verdict = judgeRun(run);
  expect(verdict.reasons).toEqual([]);
  expect(targetOutcome(run, verdict).outcome).toBe("failed");
  // All of them together cannot explain this one.
  run.prediction = { ...run.prediction, limited_share: 0.03 };
  expect(judgeRun(run).reasons.map(({ rule }) => rule)).toEqual(["M10"]);
});

test("a clean run is valid, without a reason and with every rule applied", () => {
  expect(judgeRun(validEvidence())).toEqual({
    rules_version: RULES_VERSION,
    status: "valid",
    reasons: [],
    not_applicable: [],
  });
});

test("a rule whose evidence an older result does not hold is not checked, and doubts nothing", () => {
  const { admissions: _, prediction: __, ...older } = validEvidence();
  const byTurns = { group: 2, turns: 100, lead_in_ms: 5, slice_ms: 100, drained_s: 0 };
  const { status, not_checked } = judgeRun({ ...older, turns: byTurns });
  expect(status).toBe("valid");
  expect(not_checked?.map(({ rule }) => rule)).toEqual(["M16", "M10", "M27"]);
});

test("an open loop whose result has no latencies from the send is not checked for them", () => {
  expect(judgeRun(openLoopEvidence())).toMatchObject({
    reasons: [],
    not_checked: [{ rule: "M2" }],
  });
});
