import { describe, expect, test } from "vitest";
import { CAMPAIGN_COMMAND } from "../../../../src/kit/command-text.js";
import { calibrated } from "../../../../src/orchestrator/campaign/calibration.js";
import {
  atRates,
  chooseRates,
  ratesFor,
  withChosenRates,
} from "../../../../src/orchestrator/campaign/curve-rates.js";
import { makePlan, selectConfigurations } from "../../../../src/orchestrator/plan/make-plan.js";
import { everything, requestOf } from "../../../helpers/request.js";

describe("the rates of a curve that names none", () => {
  test("are shares of the slowest throughput in two digits, at least 100/s, without doubles", () => {
    expect(ratesFor(12_345)).toEqual([250, 620, 1200, 3100, 6200, 9300]);
    expect(ratesFor(1_500)).toEqual([100, 150, 380, 750, 1100]);
    expect(ratesFor(50)).toEqual([100]);
  });

  test("follow from each target at full load, and are part of plan, settings and command", async () => {
    const request = requestOf(
      "--clients",
      "iovalkey,ioredis,none",
      "--load-curve",
      "--concurrency",
      "20",
    );
    const asked = calibrated(selectConfigurations(request, everything));
    expect(asked.map(({ target }) => target.label)).toEqual(["iovalkey", "ioredis"]);
    for (const { load } of asked) expect(load).toEqual({ model: "closed", connections: 20 });

    const figures: Record<string, number> = { iovalkey: 20_000, ioredis: 10_000 };
    const chosen = await chooseRates(
      asked,
      async ({ target }) => figures[target.label] ?? Number.NaN,
      () => {},
    );
    const rates = [200, 500, 1000, 2500, 5000, 7500];
    expect(chosen.rates).toEqual(rates);
    const found = atRates(request, chosen.rates);
    const plan = withChosenRates(makePlan(found, everything), chosen);
    expect(plan.load_curve).toEqual({ rates, saturation: true, chosen: true });
    expect(plan.calibration?.measured).toHaveLength(2);
    expect(found.record.settings).toMatchObject({ "load-curve": "true", rates: rates.join(",") });
    const isCampaign = request.record.command.includes(CAMPAIGN_COMMAND);
    if (isCampaign) expect(found.record.command).toContain(`--rates ${rates.join(",")}`);
    const open = plan.configurations.flatMap(({ configuration: { load } }) =>
      load.model === "open" ? load.rate_per_second : [],
    );
    expect(new Set(open)).toEqual(new Set(rates));
  });
});
