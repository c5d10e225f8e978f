import { expect, test } from "vitest";
import { answered, served } from "../../../src/judge/counts.js";
import { validEvidence } from "../../helpers/evidence.js";

test("CPU is divided by what the server answered between the readings of it, also after the window", () => {
  const { server, counts } = validEvidence();
  expect(served(server, counts)).toBe(server.at_end.requests - server.at_window_open.requests);
  expect(served(server, counts)).toBeGreaterThan(answered(counts));
  // Neither what the warm-up left under way, nor what was still under way at the end.
  server.at_window_open.in_flight = 2;
  server.at_end.in_flight = 5;
  expect(served(server, counts)).toBe(counts.sent - 3);
});

test("where the server tells no count, CPU is divided by what was sent", () => {
  const { counts } = validEvidence();
  expect(served(undefined, counts)).toBe(counts.sent);
});
