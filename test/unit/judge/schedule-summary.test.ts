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
    ...change,
  };
  return run;
}

const reasons = (run: ValidRun) => judge(run).reasons.map(({ rule, severity }) => `${rule} ${severity}`);
const text = (run: ValidRun) => judge(run).reasons.find(({ rule }) => rule === "M5")?.text ?? "";

test("a schedule that was kept is valid; Little's law is for closed loops", () => {
  const verdict = judge(openRun());
  expect(verdict.reasons).toEqual([]);
  expect(verdict.not_applicable).toEqual([{ rule: "M7", text: "open loop: connections may be idle" }]);
});

test("a closed loop has no schedule to keep", () => {
  const verdict = judge(validEvidence());
  expect([...verdict.reasons, ...verdict.not_applicable].map(({ rule }) => rule)).not.toContain("M5");
});

describe("M5 invalid:", () => {
  test("more than one send in a hundred was never made", () => {
    const { sent } = openRun().counts;
    const offered = Math.ceil(sent / 0.985);
    const run = openRun({ offered, dropped: 100, unsent: offered - sent - 100, blocked: offered - sent });
    expect(reasons(run)).toEqual(["M5 invalid"]);
    expect(text(run)).toMatch(/saturated: 2000\/s were offered, 2000\/s answered, and all 200 connections/);
    expect(text(run)).toMatch(/1\.5 % of 10\d+ requests were never sent \(100 dropped, \d+ waiting/);
  });

  test("sends were late although connections were free: the generator is the cause", () => {
    const run = openRun({ lateness_ms: { p50: 0.1, p90: 0.9, p99: 2.6, max: 9 } });
    expect(reasons(run)).toEqual(["M5 invalid"]);
    expect(text(run)).toContain("the generator could not keep up");
    expect(text(run)).toContain("2.60 ms, 1.00 ms are allowed");
  });

  test("sends were late because all connections were busy: the generator is not the cause", () => {
    const run = openRun({ lateness_ms: { p50: 0.1, p90: 0.9, p99: 30, max: 90 }, blocked: 500 });
    expect(text(run)).toContain("all 200 connections were busy for 5.0 % of the sends");
  });

  test("no send fell due, or the schedule was not recorded", () => {
    expect(reasons(openRun({ offered: 0, sent: 0 }))).toContain("M5 invalid");
    const run = openRun();
    delete run.schedule;
    expect(reasons(run)).toEqual(["M5 invalid"]);
  });
});

test("a lateness of a tenth of the p99 latency, and at least 1 ms, is allowed", () => {
  const fast = openRun({ lateness_ms: { p50: 0.1, p90: 0.5, p99: 0.99, max: 3 } });
  if (fast.latency) fast.latency.p99 = 2;
  expect(reasons(fast)).toEqual([]);
  const slow = openRun({ lateness_ms: { p50: 0.1, p90: 0.5, p99: 9.9, max: 30 } });
  if (slow.latency) slow.latency.p99 = 100;
  expect(reasons(slow)).toEqual([]);
});

test("M8 invalid: sends that no count includes", () => {
  expect(reasons(openRun({ offered: 10_006 }))).toEqual(["M8 invalid"]);
});

test("percentiles of lateness come from the merged histograms of all workers", () => {
  const part = { offered: 100, sent: 98, late: 1, blocked: 2, dropped: 1, unsent: 1 };
  const parts = [
    { ...part, lateness: histogramOf(98, 100) },
    { ...part, lateness: histogramOf(98, 900) },
  ];
  const schedule = scheduleOf({ rate_per_second: 50, arrivals: "poisson" }, addSchedules(parts), 4);
  expect(schedule).toMatchObject({ offered: 200, sent: 196, late: 2, blocked: 4, dropped: 2, unsent: 2 });
  expect(schedule.achieved_per_second).toBe(49);
  expect(schedule.lateness_ms).toMatchObject({ p50: 0.1, p90: 0.9, max: 0.9 });
  expect(generatorOf(openRun()).schedule).toBeUndefined();
});
