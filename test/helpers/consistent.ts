import { expect } from "vitest";
import type { MeasuredResult } from "../../src/contract/result.js";

/** Invariants of every result, computed independently of the program. */
export function expectConsistent(result: MeasuredResult): void {
  const { counts, requests, duration, request } = result;
  expect(requests.total).toBe(counts.allowed + counts.limited);
  expect(Math.abs(requests.average * duration - requests.total)).toBeLessThan(1);
  expect(result.rate_limit_hits).toBe(counts.limited);
  expect(result.totalErrors).toBe(result.errors + result.timeouts + counts.failed_answers);
  const failed = counts.failed_answers + counts.connection_errors + counts.timed_out;
  expect(counts.sent).toBe(counts.allowed + counts.limited + failed + counts.cut);
  expect(counts.cut).toBeLessThanOrEqual(request.connections);
  const seconds = result.samples.reduce((sum, { allowed, limited }) => sum + allowed + limited, 0);
  expect(seconds).toBe(requests.total);
  const statuses = Object.values(counts.by_status).reduce((sum, count) => sum + count, 0);
  expect(statuses).toBe(requests.total + counts.failed_answers);
}

/** Every send of the schedule is in one count, and every answer in one histogram of each kind. */
export function expectScheduleReconciled({
  counts,
  schedule,
  generators,
  requests,
  samples,
}: MeasuredResult): void {
  if (!schedule) throw new Error("a schedule");
  expect(schedule.offered).toBe(schedule.sent + schedule.dropped + schedule.unsent);
  expect(schedule.sent).toBe(counts.sent);
  const failed = counts.failed_answers + counts.connection_errors + counts.timed_out;
  expect(counts.sent).toBe(counts.allowed + counts.limited + failed);
  const [part] = generators;
  for (const histograms of [part?.histograms, part?.service_histograms]) {
    expect(histograms?.allowed.count).toBe(counts.allowed);
    expect(histograms?.limited.count).toBe(counts.limited);
    expect(histograms?.failed.count).toBe(counts.failed_answers);
  }
  expect(part?.schedule?.lateness.count).toBe(schedule.sent);
  expect(samples.reduce((sum, { allowed, limited }) => sum + allowed + limited, 0)).toBe(requests.total);
}
