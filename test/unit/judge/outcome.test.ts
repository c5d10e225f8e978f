import { describe, expect, test } from "vitest";
import { isSpoiled, targetOutcome } from "../../../src/judge/outcome.js";
import { judgeRun } from "../../../src/judge/rules.js";
import { addSchedules, scheduleOf } from "../../../src/judge/schedule-summary.js";
import {
  addFailures,
  evalsha,
  generatorOf,
  histogramOf,
  openLoopEvidence,
  type ValidRun,
  validEvidence,
} from "../../helpers/evidence.js";

const reasons = (run: ValidRun) =>
  judgeRun(run).reasons.map(({ rule, severity }) => `${rule} ${severity}`);
const text = (run: ValidRun) => judgeRun(run).reasons.find(({ rule }) => rule === "M5")?.text ?? "";

test("a schedule that was kept is valid; Little's law is for closed loops", () => {
  const verdict = judgeRun(openLoopEvidence());
  expect(verdict.reasons).toEqual([]);
  expect(verdict.not_applicable).toEqual([
    { rule: "M7", text: "open loop: connections may be idle" },
  ]);
});

describe("M5 invalid:", () => {
  test("more than one send in a hundred was never made", () => {
    const { sent } = openLoopEvidence().counts;
    const offered = Math.ceil(sent / 0.985);
    const missing = offered - sent;
    const run = openLoopEvidence({
      offered,
      dropped: 100,
      unsent: missing - 100,
      blocked: missing,
    });
    expect(reasons(run)).toEqual(["M5 invalid"]);
    expect(text(run)).toMatch(
      /saturated: 2000\/s were offered, 2000\/s answered, and none of the 200 connections/,
    );
    expect(text(run)).toMatch(
      /1\.5 % of 10\d+ requests were never sent \(100 dropped, \d+ waiting/,
    );
  });

  test("sends were missing although connections were free: the generator is the cause", () => {
    const { sent } = openLoopEvidence().counts;
    const run = openLoopEvidence({ offered: sent + 200, unsent: 200, blocked: 20 });
    expect(text(run)).toMatch(
      /^schedule not kept: the generator could not keep up .*; 2\.0 % of 10\d+ requests/,
    );
  });

  test("no send fell due, or the schedule was not recorded", () => {
    expect(reasons(openLoopEvidence({ offered: 0, sent: 0 }))).toContain("M5 invalid");
    const run = openLoopEvidence();
    delete run.schedule;
    expect(reasons(run)).toEqual(["M5 invalid"]);
  });
});

describe("the p99 of send lateness, beyond a millisecond and", () => {
  const late = (p99: number, ofLatency: number | null, low = 0) => {
    const run = openLoopEvidence({ lateness_ms: { p50: 0.1, p90: 0.5, p99, max: 300 } });
    if (run.latency) run.latency.p99 = ofLatency;
    if (run.latency && ofLatency === null) run.latency.bounds = { p99: { low, high: null } };
    return run;
  };

  test.each<[string, number, number | null, string[]]>([
    ["at most a tenth of the p99 of latency, is allowed", 9.9, 100, []],
    ["more than a tenth of it, is suspect", 10.1, 100, ["M5 suspect"]],
    ["at most half of it, is suspect", 50, 100, ["M5 suspect"]],
    ["more than half of it, is invalid", 50.1, 100, ["M5 invalid"]],
  ])("%s", (_what, p99, ofLatency, expected) => {
    expect(reasons(late(p99, ofLatency))).toEqual(expected);
  });

  test("at most a millisecond, is allowed whatever the latency", () => {
    expect(reasons(late(0.99, 1))).toEqual([]);
    expect(reasons(late(1.01, 1))).toEqual(["M5 invalid"]);
  });

  test("is compared with the lower bound where the p99 is not known", () => {
    expect(reasons(late(30, null, 59))).toEqual(["M5 invalid"]);
    expect(reasons(late(30, null, 61))).toEqual(["M5 suspect"]);
    expect(reasons(late(30, null, 301))).toEqual([]);
  });

  test("is the generator's doing, however many sends were blocked", () => {
    const run = late(60, 100);
    if (run.schedule) run.schedule.blocked = 500;
    for (const part of ["the generator", "WORKERS", "60.00 ms", "100.00 ms"])
      expect(text(run)).toContain(part);
  });
});

test("M8 invalid: sends that no count includes", () => {
  expect(reasons(openLoopEvidence({ offered: 10_006 }))).toEqual(["M8 invalid"]);
});

describe("the summary of several workers", () => {
  const part = {
    offered: 100,
    sent: 98,
    late: 1,
    blocked: 2,
    dropped: 1,
    unsent: 1,
    shared_wakes: false,
  };
  const parts = [
    { ...part, lateness: histogramOf(98, 100), gaps: histogramOf(97, 1_000) },
    { ...part, lateness: histogramOf(90, 900), gaps: histogramOf(97, 9_000), shared_wakes: true },
  ];
  const load = { rate_per_second: 50, arrivals: "poisson" as const };
  const summary = (latency?: ValidRun["latency"]) =>
    scheduleOf(load, addSchedules(parts), { window_s: 4, workers: 2, latency });

  test("adds up counts and merges lateness", () => {
    const schedule = summary();
    expect(schedule).toMatchObject({
      offered: 200,
      sent: 196,
      late: 2,
      blocked: 4,
      dropped: 2,
      unsent: 2,
    });
    expect(schedule.achieved_per_second).toBe(49);
    expect(schedule.lateness_ms).toMatchObject({ p50: 0.1, p90: 0.9, max: 0.9 });
    expect(schedule.late_percentiles).toEqual([]);
    expect(generatorOf(openLoopEvidence()).schedule).toBeUndefined();
  });

  test("names the percentiles of latency of which lateness is more than a tenth", () => {
    const { latency } = openLoopEvidence();
    if (!latency) throw new Error("latency");
    expect(summary({ ...latency, p50: 0.9, p90: 10, p99: 5 }).late_percentiles).toEqual([
      "p50",
      "p99",
    ]);
    // Of a p99 that is not known the least that it can be.
    const unknown = { ...latency, p50: 2, p90: 10, p99: null };
    expect(
      summary({ ...unknown, bounds: { p99: { low: 8, high: null } } }).late_percentiles,
    ).toEqual(["p99"]);
    expect(
      summary({ ...unknown, bounds: { p99: { low: 10, high: null } } }).late_percentiles,
    ).toEqual([]);
  });
});

const judged = (run: ValidRun) => {
  const verdict = judgeRun(run);
  return { status: verdict.status, ...targetOutcome(run, verdict) };
};

/**
 * An open loop in which so many of the offered sends were never made, and so many waited for a
 * connection.
 */
const openRun = (unsent: number, blocked: number): ValidRun =>
  openLoopEvidence({ offered: validEvidence().counts.sent + unsent, unsent, blocked }, 10);

/** Failures in an open loop, whose sends the schedule counts, too. */
function addTimeouts(run: ValidRun, count: number): void {
  addFailures(run, "timed_out", count);
  if (!run.schedule) return;
  run.schedule.sent += count;
  run.schedule.offered += count;
}

test("a load that was answered is served, also in an open loop", () => {
  expect(judged(validEvidence())).toEqual({ status: "valid", outcome: "served" });
  expect(judged(openRun(0, 500))).toEqual({ status: "valid", outcome: "served" });
  expect(judged(openRun(90, 500))).toEqual({ status: "valid", outcome: "served" });
});

describe("more than 0.1 % of the requests failed:", () => {
  test.each(["failed_answers", "connection_errors", "timed_out"] as const)("%s", (kind) => {
    const fewRequests = validEvidence();
    addFailures(fewRequests, kind, 10);
    expect(judged(fewRequests)).toEqual({ status: "valid", outcome: "served" });
    const many = validEvidence();
    addFailures(many, kind, 11);
    expect(judged(many)).toMatchObject({ status: "valid", outcome: "failed" });
  });

  test("all of them, because the target hung from the start", () => {
    const { prediction: _none, ...run } = validEvidence();
    const none = { allowed: 0, limited: 0, failed_answers: 0, connection_errors: 0, timed_out: 0 };
    const after_window = { ...none, timed_out: 10 };
    run.counts = { ...none, sent: 10, followed: 10, after_window, cut: 0, by_code: {} };
    const empty = histogramOf(0);
    Object.assign(run.generators[0] ?? {}, {
      counts: run.counts,
      histograms: {
        allowed: empty,
        limited: empty,
        failed: empty,
        censored: histogramOf(10, 10e6),
      },
    });
    run.requests = { average: 0, total: 0 };
    for (const kind of ["allowed", "limited", "latency_sum_us"] as const) run.slices[kind].fill(0);
    delete run.latency;
    for (const { at_window_open, at_end } of run.consumers) {
      at_end.requests = at_window_open.requests + 10;
      at_end.in_flight = 10;
      if (at_window_open.consumes) at_end.consumes = { ...at_window_open.consumes, calls: 2_010 };
    }
    for (const { at_end } of run.store.nodes) Object.assign(at_end, evalsha(2_004));
    const verdict = judgeRun(run);
    expect(verdict).toMatchObject({ status: "valid", reasons: [] });
    expect(verdict.not_applicable).toContainEqual({ rule: "M10", text: "nothing was answered" });
    expect(targetOutcome(run, verdict)).toMatchObject({
      outcome: "failed",
      outcome_text: expect.stringMatching(/^100\.00 % of 10 requests/),
    });
  });
});

describe("a target that could not keep up with the offered rate", () => {
  test("is overloaded, although the schedule is invalid", () => {
    expect(judged(openRun(200, 500))).toEqual({
      status: "invalid",
      outcome: "overloaded",
      outcome_text:
        "2000/s were offered, 2000/s answered, and none of the 10 connections was free for 4.9 % of the sends",
    });
  });

  test("is overloaded rather than failed where requests timed out for it, and failed where answers failed", () => {
    const slow = openRun(200, 500);
    addTimeouts(slow, 50);
    expect(judged(slow).outcome).toBe("overloaded");
    const broken = openRun(200, 500);
    addFailures(broken, "failed_answers", 50);
    if (broken.schedule) broken.schedule.sent += 50;
    if (broken.schedule) broken.schedule.offered += 50;
    expect(judged(broken).outcome).toBe("failed");
  });

  test("fails where requests timed out and the schedule was kept", () => {
    const run = openRun(0, 500);
    addTimeouts(run, 50);
    expect(judged(run)).toMatchObject({ status: "valid", outcome: "failed" });
  });
});

describe("nothing is known of the target", () => {
  test("where the generator did not keep the schedule", () => {
    expect(judged(openRun(200, 10))).toEqual({ status: "invalid" });
  });

  test("where the generator was saturated: it kept the connections busy itself", () => {
    const run = openRun(200, 500);
    for (const worker of generatorOf(run).workers) worker.event_loop_utilisation = 0.95;
    expect(judged(run)).toEqual({ status: "invalid" });
    expect(judgeRun(run).reasons.find(({ rule }) => rule === "M5")?.text).toMatch(
      /^schedule not kept: the generator could not keep up/,
    );
    // At the limiter layer it is the client that is measured.
    run.request.layer = "limiter";
    expect(judged(run).outcome).toBe("overloaded");
  });

  test("where another rule makes the run invalid, also an overloaded one", () => {
    const run = openRun(200, 500);
    run.prediction.seen_share = 0.5;
    expect(judged(run)).toEqual({ status: "invalid" });
    const closed = validEvidence();
    addFailures(closed, "timed_out", 100);
    closed.requests.total++;
    expect(judged(closed)).toEqual({ status: "invalid" });
  });

  test("where nothing was sent", () => {
    const run = validEvidence();
    run.counts.sent = 0;
    expect(judged(run)).toEqual({ status: "invalid" });
  });
});

test("overloaded and failed runs are spoiled; served and unknown ones are not", () => {
  expect(
    ([undefined, "served", "overloaded", "failed"] as const).map((outcome) =>
      isSpoiled({ outcome }),
    ),
  ).toEqual([false, false, true, true]);
});

describe("a limiter that does not keep its promise (M27)", () => {
  const boundaryRun = (seen: number, retried: number, denied = 0): ValidRun => {
    const run = validEvidence();
    const none = { total: 0, keys: 0 };
    const answers = { keys: 1, admitted: 1000, limited: 2000 };
    return {
      ...run,
      admissions: { status: "not known", reason: "counts end after a window" },
      boundary: {
        algorithm: "GCRA",
        quota: 10,
        window_s: 2,
        above: answers,
        below: { keys: 0, admitted: 0, limited: 0 },
        undecided: 0,
        windows: [],
        over_admission: none,
        under_admission: none,
        burst: { most: 10 * seen, factor: seen },
        rate: {
          promised_per_second: 5,
          lowest_per_second: 5,
          mean_per_second: 5,
          highest_per_second: 5,
        },
        promises: [
          { id: "burst", promised: 2, seen, unit: "quotas", holds: seen <= 2 },
          {
            id: "retry-after-admits",
            promised: 1,
            seen: retried,
            unit: "share",
            holds: retried === 1,
          },
          {
            id: "under-admission",
            promised: 0,
            seen: denied,
            unit: "requests",
            holds: denied === 0,
          },
        ],
      },
    };
  };

  test("failed, with a sound measurement, and neither M10 nor M27 judges it", () => {
    const run = boundaryRun(3.2, 1);
    const verdict = judgeRun(run);
    expect(verdict.status).toBe("valid");
    expect(verdict.not_applicable.map(({ rule }) => rule)).toContain("M10");
    expect(verdict.not_applicable.map(({ rule }) => rule)).not.toContain("M27");
    expect(targetOutcome(run, verdict)).toEqual({
      outcome: "failed",
      outcome_text:
        "the limiter did not keep its promise: one key was admitted 3.2 quotas in a window, 2 at most are promised",
    });
  });

  test("failed, where more than 0.1 % were denied that had points left", () => {
    const run = boundaryRun(1.9, 1, 4);
    expect(targetOutcome(run, judgeRun(run))).toMatchObject({ outcome: "failed" });
  });

  test("served, where it keeps it, where only its waits are wrong, and with fewer wrong denials", () => {
    for (const run of [boundaryRun(1.9, 1), boundaryRun(1.9, 0.5), boundaryRun(1.9, 1, 3)])
      expect(targetOutcome(run, judgeRun(run))).toEqual({ outcome: "served" });
  });
});
