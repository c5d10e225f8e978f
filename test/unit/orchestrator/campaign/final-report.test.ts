import { describe, expect, test } from "vitest";
import type { Configuration } from "../../../../src/contract/configuration.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { campaignExitCode } from "../../../../src/orchestrator/campaign/final-report.js";
import type { RunOutcome } from "../../../../src/orchestrator/run/result-documents.js";
import { configuration } from "../../../helpers/evidence.js";

const other: Configuration = { ...configuration, servers: 2 };

const run = (
  outcome: RunOutcome["outcome"],
  status: RunOutcome["status"] = "valid",
  measured = configuration,
): RunOutcome => ({
  file: "a.json",
  status,
  configuration: structuredClone(measured),
  seconds: 1,
  ...(outcome === undefined ? {} : { outcome }),
});

const served = run("served");
const servedElsewhere = run("served", "valid", other);
const failed = run("failed");
const overloaded = run("overloaded", "invalid");
const invalid = run(undefined, "invalid");

describe("the exit code of a campaign is", () => {
  test.each<[string, number, RunOutcome[], number]>([
    ["0 where all runs were served", EXIT.done, [served, run("served", "suspect")], 0],
    ["0 where a configuration was also served", EXIT.done, [failed, served, failed], 0],
    ["5 where a run is invalid", EXIT.runsInvalid, [served, invalid], 0],
    [
      "5 where no run of a configuration is known to be served or spoiled",
      EXIT.runsInvalid,
      [invalid],
      0,
    ],
    [
      "5 where an overloaded run is invalid beside a served one",
      EXIT.runsInvalid,
      [overloaded, served],
      0,
    ],
    ["6 where a threshold is missed", EXIT.regression, [failed, served, invalid], 1],
    [
      "4 where a configuration was spoiled and never served",
      EXIT.configurationFailed,
      [failed, failed],
      1,
    ],
    ["4 where a configuration was only overloaded", EXIT.configurationFailed, [overloaded], 0],
    ["4 where the other runs are invalid", EXIT.configurationFailed, [failed, invalid], 0],
    [
      "4 where another configuration was served",
      EXIT.configurationFailed,
      [failed, servedElsewhere],
      0,
    ],
    [
      "4 where a run has no figures",
      EXIT.configurationFailed,
      [served, run(undefined, "failed")],
      1,
    ],
  ])("%s", (_what, code, outcomes, missed) => {
    expect(campaignExitCode(outcomes, missed)).toBe(code);
  });

  test("that of a search, in which missed rates are no failure", () => {
    const trial = (status: "kept" | "missed" | "void") => ({ file: "a.json", status, reason: "" });
    const search = { trials: [trial("kept"), trial("missed")] };
    expect(campaignExitCode([served, failed, overloaded], 0, search)).toBe(EXIT.done);
    expect(campaignExitCode([served, invalid], 0, { trials: [trial("void")] })).toBe(
      EXIT.runsInvalid,
    );
    expect(campaignExitCode([served, run(undefined, "failed")], 0, search)).toBe(
      EXIT.configurationFailed,
    );
  });
});
