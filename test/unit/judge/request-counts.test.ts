import { expect, test } from "vitest";
import {
  accountedRequests,
  addCounts,
  answeredRequests,
  failedRequests,
  servedRequests,
} from "../../../src/judge/counts.js";
import { serverOf, validEvidence } from "../../helpers/evidence.js";

test("CPU time is divided by the requests that the server answered between its readings", () => {
  const run = validEvidence();
  const { consumers, counts } = run;
  const server = serverOf(run);
  expect(servedRequests(consumers, run)).toBe(
    server.at_end.requests - server.at_window_open.requests,
  );
  expect(servedRequests(consumers, run)).toBeGreaterThan(answeredRequests(counts));
  // Neither what the warm-up left under way, nor what was still under way at the end.
  server.at_window_open.in_flight = 2;
  server.at_end.in_flight = 5;
  expect(servedRequests(consumers, run)).toBe(counts.sent - 3);
});

test("counts of several workers add up, by code too; failures, also after the window, are no answers", () => {
  const worker = {
    sent: 11,
    allowed: 5,
    limited: 1,
    failed_answers: 1,
    connection_errors: 1,
    timed_out: 1,
    followed: 2,
    after_window: { allowed: 1, limited: 0, failed_answers: 0, connection_errors: 0, timed_out: 1 },
    cut: 0,
    by_code: { "200": 5, "429": 1, "503": 1 },
  };
  const sum = addCounts([worker, worker, { ...worker, by_code: { "200": 4, "201": 1 } }]);
  expect(sum).toMatchObject({
    sent: 33,
    allowed: 15,
    followed: 6,
    after_window: { allowed: 3, timed_out: 3 },
    by_code: { "200": 14, "201": 1, "429": 2, "503": 2 },
  });
  expect([answeredRequests(sum), failedRequests(sum), accountedRequests(sum)]).toEqual([
    18, 12, 33,
  ]);
});
