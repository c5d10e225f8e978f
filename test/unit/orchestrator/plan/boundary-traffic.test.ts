import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything, requestOf } from "../../../helpers/request.js";

const flags = ["--clients", "iovalkey", "--traffic", "boundary", "--duration-mode", "custom:6"];
const limitsOf = (...more: string[]) =>
  makePlan(requestOf(...flags, ...more), everything).configurations.map(
    ({ configuration }) => configuration.limits,
  );

describe("traffic whose quota binds", () => {
  test("gets the quota of its rate and window, in points of the cost", () => {
    expect(limitsOf("--rate", "2500,5000")).toEqual([
      { points: 5, window_s: 2, block_s: 0 },
      { points: 10, window_s: 2, block_s: 0 },
    ]);
    expect(limitsOf("--rate", "5000", "--window", "1", "--cost", "3")).toEqual([
      { points: 15, window_s: 1, block_s: 0, cost: 3 },
    ]);
  });

  test.each([
    [[], "--rate"],
    [["--rate", "5000", "--points", "10"], "leave --points out"],
    [["--rate", "5000", "--block", "5"], "leave --block out"],
    [["--rate", "100"], "--window 50"],
    [["--rate", "5000", "--window", "3"], "custom:9 or more"],
    [["--rate", "5000", "--find-max-rate", "--slo", "p99<10ms"], "in place of --find-max-rate"],
  ])("%j is refused, with what would help [R-boundary-1]", async (more, text) => {
    await expectFailure(() => limitsOf(...more), EXIT.usage, "--traffic boundary: ", text);
  });

  test("is not sent by several generators: each would know a part of the requests of a key", () => {
    const plan = makePlan(requestOf(...flags, "--rate", "5000", "--generators", "1,2"), everything);
    expect(plan.configurations.map(({ configuration }) => configuration.generators)).toEqual([undefined]);
    expect(plan.skips).toEqual([
      { asked: "iovalkey", reason: expect.stringMatching(/^--generators 2: .*boundary/) },
    ]);
  });
});
