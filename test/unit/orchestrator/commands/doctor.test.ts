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
    const lines = outlookLines(found).slice(1, 4);
    expect(lines.map((line) => line.match(/\d+/g)?.map(Number))).toEqual([
      [3, 1000],
      [5, 14, 7],
      [10, 5, 3],
    ]);
  });

  test("is not told from a machine on which other programs run, nor from a few measurements", () => {
    expect(unusableReason(90, 180)).toContain("180 %");
    expect(unusableReason(3, 2)).toContain("--seconds");
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
  const measure = () => doctor.run([`--seconds=${seconds}`], context);
  await expectFailure(measure, EXIT.usage, "--seconds", "0 to 600");
});
