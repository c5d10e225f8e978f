import { expect, test } from "vitest";
import { decidable } from "../../../../src/orchestrator/plan/decidable.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { everything, requestOf } from "../../../helpers/request.js";

/** Eight targets of one ranking. */
const EIGHT = [
  ...["iovalkey", "ioredis@valkey", "valkey-glide", "node-redis@valkey", "iovalkey+autopipelining"],
  ...["ioredis@valkey+autopipelining", "iovalkey~0.3.3", "iovalkey~0.3.2"],
].join(",");
const found = (clients: string, ...flags: string[]) =>
  decidable(makePlan(requestOf("--clients", clients, "--concurrency", "50", ...flags), everything));

test("the family of a ranking is each target against its reference; the copy is none of them", () => {
  expect(found("iovalkey,valkey-glide,ioredis@valkey,none", "--runs", "10")).toEqual({
    lines: ["reference iovalkey + copy: 2 comparisons, paired by round"],
    warnings: [],
  });
});

test("below five runs they are indicative", () => {
  expect(found("iovalkey,valkey-glide", "--runs", "3")).toEqual({
    lines: [
      "reference iovalkey: 1 comparison, indicative: 3 runs a side cannot show a difference, give --runs 5 or more",
    ],
    warnings: [],
  });
});

test("a family that is too large for the runs is a warning with the runs that it takes", () => {
  // 7 comparisons: 7 x 2/252 is more than 0.05, 7 x 2/924 is less.
  const flags = ["--order", "consecutive", "--no-copy"];
  const line = "reference iovalkey: 7 comparisons, which 5 runs a side cannot decide: give --runs 6 or more";
  expect(found(EIGHT, "--runs", "5", ...flags)).toEqual({ lines: [line], warnings: [line] });
  expect(found(EIGHT, "--runs", "6", ...flags).warnings).toEqual([]);
  // In two blocks the reference has twice as many runs.
  expect(found(EIGHT, "--runs", "5").warnings).toEqual([]);
});

test("targets that are alone are compared with nothing", () => {
  expect(found("iovalkey,ioredis,none", "--runs", "5")).toEqual({ lines: [], warnings: [] });
});
