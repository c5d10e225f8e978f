import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import {
  doctor,
  resolutionLines,
  resolutionOf,
  roundsIn,
} from "../../../../src/orchestrator/commands/doctor.js";
import { commands } from "../../../../src/orchestrator/commands/index.js";
import { expectFailure } from "../../../helpers/errors.js";
import { ROOT } from "../../../helpers/programs.js";

describe("what doctor says that a machine can show", () => {
  const power = { ratio: 1.004, interval: { low: 0.98, high: 1.03 }, deviation: 0.0312, detectable: 0.061 };

  test("is the rounds of each difference, and their time here", () => {
    const found = resolutionOf(
      { ...power, rounds_needed: [null, 14, 5] },
      { rounds: 8, slices_s: 1, seconds: 60 },
    );
    expect(found).toMatchObject({ rounds: 8, ratio: 1.004, interval: power.interval });
    expect(found.deviation_percent).toBeCloseTo(3.12);
    expect(found.found_in_7_rounds_percent).toBeCloseTo(6.1);
    expect(found.differences).toEqual([
      { percent: 3, rounds: null, minutes: null },
      { percent: 5, rounds: 14, minutes: 1.75 },
      { percent: 10, rounds: 5, minutes: 0.625 },
    ]);
    const [, ratio, , , seven, ...differences] = resolutionLines(found);
    expect(ratio).toContain("1.004 (0.980–1.030)");
    expect(seven).toContain("6.1 %");
    expect(differences.slice(0, 2).map((line) => line.match(/\d+/g)?.map(Number))).toEqual([
      [3, 1000],
      [5, 14, 2],
    ]);
  });

  test("may be nothing, of rounds too few for an interval", () => {
    const none = { ...power, interval: null, detectable: null, rounds_needed: [null, null, null] };
    const found = resolutionOf(none, { rounds: 2, slices_s: 1, seconds: 15 });
    expect(found).toMatchObject({ interval: null, found_in_7_rounds_percent: null });
    expect(resolutionLines(found)[1]).toContain("1.004 (no interval)");
  });
});

test.each([
  [1, 8, 1],
  [60, 8, 1],
  [90, 9, 2],
  [600, 52, 3],
])("%d s have at least eight rounds, and longer slices before more rounds", (seconds, rounds, slices_s) => {
  expect(roundsIn(seconds)).toEqual({ rounds, slices_s });
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
