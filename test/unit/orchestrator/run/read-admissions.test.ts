import { describe, expect, test } from "vitest";
import {
  type AdmissionsContext,
  readAdmissions,
} from "../../../../src/orchestrator/run/read-admissions.js";
import { findProfile } from "../../../../src/traffic/lookup.js";
import { targetOf } from "../../../helpers/target.js";

/**
 * A run on `traffic` in which request number n was sent n + 1 times, on a store that counts right.
 */
function contextOf(traffic: string, changes: Partial<AdmissionsContext> = {}): AdmissionsContext {
  const { requests } = findProfile(traffic).population();
  const sent = requests.map((_, which) => which + 1);
  const counts = new Map(requests.map(([key], which) => [`rl:${key}`, which + 1]));
  return {
    configuration: {
      target: targetOf("ioredis@redis"),
      traffic,
      limits: findProfile(traffic).limits,
    },
    keyPrefix: "rl",
    requestCounts: { sent, undecided: sent.map(() => 0) },
    elapsedS: 10,
    withoutStore: 0,
    readNumbers: async (keys) => keys.map((key) => counts.get(key) ?? null),
    ...changes,
  };
}

describe("the counts of a run's keys", () => {
  test("are read by name and compared with what was sent", async () => {
    const found = await readAdmissions(contextOf("realistic"));
    expect(found).toMatchObject({ status: "counted", keys: 10_000, below: 0, above: 0 });
  });

  test("miss a lost update", async () => {
    const lossy = contextOf("realistic");
    const found = await readAdmissions({
      ...lossy,
      readNumbers: async (keys) =>
        ((await lossy.readNumbers(keys)) ?? []).map((count, index) =>
          count === null ? null : count - (keys[index] === "rl:user-7" ? 1 : 0),
        ),
    });
    expect(found).toMatchObject({
      below: 1,
      worst: { key: "user-7", least: 8, most: 8, counted: 7 },
    });
  });

  test("take the points of a request, and leave out keys that are used once", async () => {
    const { configuration } = contextOf("mixed2");
    const found = await readAdmissions(
      contextOf("mixed2", {
        configuration: { ...configuration, limits: { ...configuration.limits, cost: 5 } },
        requestCounts: { sent: [100], undecided: [2] },
        readNumbers: async (keys) => keys.map(() => 495),
      }),
    );
    expect(found).toMatchObject({
      keys: 1,
      points: { least: 490, most: 500, counted: 495 },
      below: 0,
    });
  });

  test.each([
    ["ioredis@redis+redis-cell", {}, "GCRA"],
    ["ioredis@redis+in-memory-block", {}, "do not reach the store"],
    [
      "ioredis@redis+insurance-limiter",
      { withoutStore: 3 },
      "3 consumes were decided without the store",
    ],
    ["ioredis@redis", { elapsedS: 60 }, "after a window of 60 s"],
  ])("are not known for %s %o", async (text, changes, reason) => {
    const { configuration } = contextOf("realistic");
    const found = await readAdmissions(
      contextOf("realistic", {
        configuration: { ...configuration, target: targetOf(text) },
        ...changes,
      }),
    );
    expect(found).toEqual({ status: "not known", reason: expect.stringContaining(reason) });
  });
});
