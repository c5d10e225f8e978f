import { expect, test } from "vitest";
import { type PlannedRun, roundOf } from "../../../../src/contract/plan.js";
import { TimedRounds } from "../../../../src/orchestrator/adaptive/timed-rounds.js";
import { planFor } from "../../../helpers/request.js";

/** The rounds that are made where each takes so many seconds, and the time ends at that second. */
async function roundsMade(seconds: readonly number[], end_s: number): Promise<number[]> {
  const targets = ["--clients", "iovalkey,ioredis@valkey", "--workload", "light"];
  const flags = [...targets, "--concurrency", "50", "--order", "turns", "--runs", "6"];
  let now_ms = 0;
  const rounds = new TimedRounds({ end_ms: 1000 * end_s, fewest: 2 }, () => now_ms);
  const made: PlannedRun[] = [];
  for (const planned of planFor(...flags, "--no-copy").runs) {
    if (!(await rounds.isNeeded(planned))) continue;
    made.push(planned);
    now_ms += (1000 * (seconds[roundOf(planned) - 1] ?? 0)) / 2;
  }
  expect(made).toHaveLength(2 * new Set(made.map(roundOf)).size);
  return [...new Set(made.map(roundOf))];
}

test("a round begins only where one as long as the longest so far ends in time", async () => {
  expect(await roundsMade([10, 10, 10, 10, 10, 10], 45)).toEqual([1, 2, 3, 4]);
  expect(await roundsMade([10, 16, 10, 10, 10, 10], 41)).toEqual([1, 2]);
  expect(await roundsMade([1, 1, 1, 1, 1, 1], 45)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("two rounds are made in any case, because one alone says nothing", async () => {
  expect(await roundsMade([40, 40, 40, 40, 40, 40], 45)).toEqual([1, 2]);
});
