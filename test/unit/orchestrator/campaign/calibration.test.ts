import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  atRate,
  calibrate,
  calibrated,
  withCalibration,
} from "../../../../src/orchestrator/campaign/calibration.js";
import { makePlan, selectConfigurations } from "../../../../src/orchestrator/plan/make-plan.js";
import { PartFailed } from "../../../../src/orchestrator/run/part-supervisor.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything, requestOf } from "../../../helpers/request.js";

const FAULTS = ["--fault", "none,store-pause,store-restart", "--duration-mode", "custom:30"];
const requested = (...flags: string[]) =>
  requestOf("--clients", "iovalkey,ioredis,none", ...FAULTS, ...flags);

describe("the rate of a campaign with faults that names none", () => {
  test("is asked of each target once, in a closed loop without faults; not of controls", () => {
    const found = calibrated(selectConfigurations(requested(), everything));
    expect(found.map(({ target }) => target.label)).toEqual(["iovalkey", "ioredis"]);
    for (const configuration of found) {
      expect(configuration).toMatchObject({ load: { model: "closed" }, extent: { duration_s: 5 } });
      expect(configuration).not.toHaveProperty("faults");
    }
    expect(
      calibrated(selectConfigurations(requested("--servers", "1,2"), everything)),
    ).toHaveLength(4);
  });

  test("is 60 % of the slowest throughput in two digits, one for all, and part of the plan", async () => {
    const request = requested();
    const figures: Record<string, number> = { iovalkey: 20_000, ioredis: 9_876 };
    const told: string[] = [];
    const found = await calibrate(
      calibrated(selectConfigurations(request, everything)),
      async ({ target }) => figures[target.label] ?? Number.NaN,
      (text) => told.push(text),
    );
    expect(found.rate_per_second).toBe(5_900);
    expect(told).toHaveLength(2);
    const at = atRate(request, found.rate_per_second);
    const plan = withCalibration(makePlan(at, everything), found);
    for (const { configuration } of plan.configurations)
      expect(configuration.load).toMatchObject({ model: "open", rate_per_second: 5_900 });
    expect(plan.calibration).toMatchObject({ rate_per_second: 5_900, share: 0.6 });
    expect(plan.notes.at(-1)).toMatch(
      /5900\/s was found by calibration.*ioredis.*9876\/s.*--rate 5900/,
    );
    expect(at.record.settings.rate).toBe("5900");
    expect(at.record.command).toMatch(/ --rate 5900$/);
  });

  test("does not depend on a target that fails, but on one at least", async () => {
    const [one, other] = calibrated(selectConfigurations(requested(), everything));
    if (!one || !other) throw new Error("two targets were asked for");
    const fails = async () => {
      throw new PartFailed("server-1", "ended with 1");
    };
    const found = await calibrate(
      [one, other],
      ({ target }) => (target === one.target ? fails() : Promise.resolve(1_000)),
      () => {},
    );
    expect(found.rate_per_second).toBe(600);
    await expectFailure(
      () => calibrate([one], fails, () => {}),
      EXIT.environment,
      "--rate",
      "server-1",
    );
  });
});
