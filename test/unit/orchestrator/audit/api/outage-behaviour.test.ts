import { expect, test } from "vitest";
import type { Answered, Fate } from "../../../../../src/orchestrator/audit/api/api-answers.js";
import {
  awayText,
  behaviourOf,
  memoryOf,
  parseExpectedOutage,
  settledBehaviour,
} from "../../../../../src/orchestrator/audit/api/outage-behaviour.js";

const answered = (fate: Fate, answered_ms: number): Answered => ({
  sent_ms: 0,
  answered_ms,
  status: 200,
  headers: {},
  body: "",
  fate,
});

test.each([
  ["admitted", "open"],
  ["denied", "closed"],
  ["failed", "error"],
  ["other", "error"],
] as const)("%s while the store is away: %s", (fate, behaviour) => {
  expect(behaviourOf(answered(fate, 900), 1_000)).toBe(behaviour);
});

test("what is answered when the store is back hung until then", () => {
  expect(behaviourOf(answered("admitted", 1_000), 1_000)).toBe("hangs");
});

test("an API that first hangs, and then gives up, answers with an error", () => {
  const seen = ["hangs", "hangs", "hangs", "error", "error", "error"] as const;
  expect(settledBehaviour(seen)).toBe("error");
});

test("requests that hung are told apart from those that were answered", () => {
  const answers = [1_000, 1_100, 200].map((moment) => answered("admitted", moment));
  expect(awayText(answers, 1_000)).toMatch(/^2 × no answer.*, 200$/);
});

test.each([
  [0, 0, "remembered"],
  [5, 0, "forgotten"],
  [5, 5, "unknown"],
  [2, 3, "remembered"],
] as const)("%s of 5 admitted, where %s may be: %s", (admitted, most, memory) => {
  expect(memoryOf(admitted, most, 5)).toBe(memory);
});

test.each([
  ["closed", { behaviour: "closed", remembered: false }],
  ["remembered", { remembered: true }],
  ["error,remembered", { behaviour: "error", remembered: true }],
])("--expect %s", (text, expected) => {
  expect(parseExpectedOutage(text)).toEqual(expected);
});

test.each(["", "hangs", "open,closed", "open,", "closed remembered"])("--expect %j", (text) => {
  expect(() => parseExpectedOutage(text)).toThrow("--expect");
});
