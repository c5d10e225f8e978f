import { expect, test } from "vitest";
import { answered, served } from "../../../src/judge/counts.js";
import { validEvidence } from "../../helpers/evidence.js";

test("CPU time is divided by the requests that the server answered between its readings", () => {
  const { server, counts } = validEvidence();
  expect(served(server, counts)).toBe(server.at_end.requests - server.at_window_open.requests);
  expect(served(server, counts)).toBeGreaterThan(answered(counts));
  // Neither what the warm-up left under way, nor what was still under way at the end.
  server.at_window_open.in_flight = 2;
  server.at_end.in_flight = 5;
  expect(served(server, counts)).toBe(counts.sent - 3);
});

test("without the server's count CPU time is divided by the sent requests", () => {
  const { counts } = validEvidence();
  expect(served(undefined, counts)).toBe(counts.sent);
});
