import { expect, test } from "vitest";
import { answered, served } from "../../../src/judge/counts.js";
import { serverOf, validEvidence } from "../../helpers/evidence.js";

test("CPU time is divided by the requests that the server answered between its readings", () => {
  const run = validEvidence();
  const { consumers, counts } = run;
  const server = serverOf(run);
  expect(served(consumers, run)).toBe(server.at_end.requests - server.at_window_open.requests);
  expect(served(consumers, run)).toBeGreaterThan(answered(counts));
  // Neither what the warm-up left under way, nor what was still under way at the end.
  server.at_window_open.in_flight = 2;
  server.at_end.in_flight = 5;
  expect(served(consumers, run)).toBe(counts.sent - 3);
});
