import { describe, expect, test } from "vitest";
import type { Schedule } from "../../../src/contract/schedule.js";
import { judge } from "../../../src/judge/rules.js";
import { addSchedules, scheduleOf } from "../../../src/judge/schedule-summary.js";
import { generatorOf, histogramOf, type ValidRun, validEvidence } from "../../helpers/evidence.js";

/** The valid run as an open loop that kept its schedule of 2000/s. */
function openRun(change: Partial<Schedule> = {}): ValidRun {
  const run = validEvidence();
  const { sent } = run.counts;
  run.request.load = { model: "open", rate_per_second: 2000, arrivals: "constant", connections: 200 };
  run.schedule = {
    rate_per_second: 2000,
    arrivals: "constant",
    offered: sent,
    sent,
    late: 3,
    blocked: 0,
    dropped: 0,
    unsent: 0,
    achieved_per_second: 2001,
    lateness_ms: { p50: 0.07, p90: 0.1, p99: 0.3, max: 2 },
    late_percentiles: [],
    shared_wakes: false,
    ...change,
  };
  // Sends that were never made are censored.
  const { dropped, unsent } = run.schedule;
  generatorOf(run).histograms.censored = histogramOf(dropped + unsent);
  return run;
}

const reasons = (run: ValidRun) => judge(run).reasons.map(({ rule, severity }) => `${rule} ${severity}`);
const text = (run: ValidRun) => judge(run).reasons.find(({ rule }) => rule === "M5")?.text ?? "";

test("a schedule that was kept is valid; Little's law is for closed loops", () => {
  const verdict = judge(openRun());
  expect(verdict.reasons).toEqual([]);
  expect(verdict.not_applicable).toEqual([{ rule: "M7", text: "open loop: connections may be idle" }]);
});

describe("M5 invalid:", () => {
  test("more than one send in a hundred was never made", () => {
    const { sent } = openRun().counts;
    const offered = Math.ceil(sent / 0.985);
    const run = openRun({ offered, dropped: 100, unsent: offered - sent - 100, blocked: offered - sent });
    expect(reasons(run)).toEqual(["M5 invalid"]);
    expect(text(run)).toMatch(
      /saturated: 2000\/s were offered, 2000\/s answered, and none of the 200 connections/,
    );
    expect(text(run)).toMatch(/1\.5 % of 10\d+ requests were never sent \(100 dropped, \d+ waiting/);
  });

  test("sends were missing although connections were free: the generator is the cause", () => {
    const { sent } = openRun().counts;
    const run = openRun({ offered: sent + 200, unsent: 200, blocked: 20 });
    expect(text(run)).toMatch(
      /^schedule not kept: the generator could not keep up .*; 2\.0 % of 10\d+ requests/,
    );
  });

  test("no send fell due, or the schedule was not recorded", () => {
    expect(reasons(openRun({ offered: 0, sent: 0 }))).toContain("M5 invalid");
    const run = openRun();
    delete run.schedule;
    expect(reasons(run)).toEqual(["M5 invalid"]);
  });
});

describe("the p99 of send lateness, beyond a millisecond and", () => {
  const late = (p99: number, ofLatency: number | null, low = 0) => {
    const run = openRun({ lateness_ms: { p50: 0.1, p90: 0.5, p99, max: 300 } });
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
  expect(reasons(openRun({ offered: 10_006 }))).toEqual(["M8 invalid"]);
});

describe("the summary of several workers", () => {
  const part = { offered: 100, sent: 98, late: 1, blocked: 2, dropped: 1, unsent: 1, shared_wakes: false };
  const parts = [
    { ...part, lateness: histogramOf(98, 100), gaps: histogramOf(97, 1_000) },
    { ...part, lateness: histogramOf(90, 900), gaps: histogramOf(97, 9_000), shared_wakes: true },
  ];
  const load = { rate_per_second: 50, arrivals: "poisson" as const };
  const summary = (latency?: ValidRun["latency"]) =>
    scheduleOf(load, addSchedules(parts), { window_s: 4, workers: 2, latency });

  test("adds up counts and merges lateness", () => {
    const schedule = summary();
    expect(schedule).toMatchObject({ offered: 200, sent: 196, late: 2, blocked: 4, dropped: 2, unsent: 2 });
    expect(schedule.achieved_per_second).toBe(49);
    expect(schedule.lateness_ms).toMatchObject({ p50: 0.1, p90: 0.9, max: 0.9 });
    expect(schedule.late_percentiles).toEqual([]);
    expect(generatorOf(openRun()).schedule).toBeUndefined();
  });

  test("names the percentiles of latency of which lateness is more than a tenth", () => {
    const { latency } = openRun();
    if (!latency) throw new Error("latency");
    expect(summary({ ...latency, p50: 0.9, p90: 10, p99: 5 }).late_percentiles).toEqual(["p50", "p99"]);
    // Of a p99 that is not known the least that it can be.
    const unknown = { ...latency, p50: 2, p90: 10, p99: null };
    expect(summary({ ...unknown, bounds: { p99: { low: 8, high: null } } }).late_percentiles).toEqual([
      "p99",
    ]);
    expect(summary({ ...unknown, bounds: { p99: { low: 10, high: null } } }).late_percentiles).toEqual([]);
  });
});
