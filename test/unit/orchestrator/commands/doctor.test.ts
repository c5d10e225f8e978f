import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import {
  doctor,
  outlookLines,
  outlookOf,
  unusableReason,
} from "../../../../src/orchestrator/commands/doctor.js";
import { commands } from "../../../../src/orchestrator/commands/index.js";
import { expectFailure } from "../../../helpers/errors.js";
import { ROOT } from "../../../helpers/programs.js";

describe("what doctor says a machine is good for", () => {
  test("is the rounds of each difference, and their time here", () => {
    const found = outlookOf({ deviation: 0.0312, rounds_needed: [null, 14, 5] }, "memory", 30);
    expect(found.differences).toEqual([
      { percent: 3, rounds: null, minutes: null },
      { percent: 5, rounds: 14, minutes: 7 },
      { percent: 10, rounds: 5, minutes: 2.5 },
    ]);
    expect(outlookLines(found).slice(0, 4)).toEqual([
      "what it is good for, at a deviation of 3.1 % (two targets, windows of 10 s, local runtime):",
      "  a difference of 3 % takes more than 1000 rounds",
      "  a difference of 5 % takes about 14 rounds, 7 min here",
      "  a difference of 10 % takes about 5 rounds, 3 min here",
    ]);
  });

  test("is not told from a machine on which other programs run, nor from a few measurements", () => {
    expect(unusableReason(90, 180)).toBe(
      "other programs used 180 % of one CPU meanwhile: stop them, then measure again",
    );
    expect(unusableReason(3, 2)).toContain("give more --seconds");
    expect(unusableReason(90, 9.9)).toBeUndefined();
    // Not every system counts it.
    expect(unusableReason(90, undefined)).toBeUndefined();
  });
});

test.each(["-1", "1.5", "601", "abc", "", "1e2"])("doctor refuses --seconds %j", async (seconds) => {
  const context = {
    packageFolder: ROOT,
    env: {},
    commands,
    campaign: async () => ({ exitCode: EXIT.done }),
    audit: async () => ({ exitCode: EXIT.done }),
    print: () => {},
  };
  await expectFailure(
    () => doctor.run([`--seconds=${seconds}`], context),
    EXIT.usage,
    "--seconds",
    "0 to 600",
  );
});
