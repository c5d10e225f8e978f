import { describe, expect, test } from "vitest";
import { DEFAULT_POOL } from "../../../../src/contract/configuration.js";
import { CURVE_SLICE_S } from "../../../../src/contract/turns.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { estimateCampaignS } from "../../../../src/orchestrator/plan/estimate.js";
import { parseCampaign } from "../../../../src/orchestrator/request/parse-request.js";
import { PRESETS } from "../../../../src/orchestrator/request/presets.js";
import { expectFailure } from "../../../helpers/errors.js";
import { planFor, requestOf } from "../../../helpers/request.js";

describe("a load curve", () => {
  test("at rates that are given has them in order, and no full load", () => {
    const { load } = requestOf("--rates", "2000,500");
    expect(load.rates).toEqual([500, 2000]);
    expect(load.curve).toEqual({});
    expect(load.connections).toEqual([DEFAULT_POOL]);
    expect(load.duration).toEqual({ mode: "fixed", seconds: 3 });
  });

  test("keeps connections that were given for its rates, but not those of a preset", () => {
    expect(requestOf("--rates", "500", "--concurrency", "7").load.connections).toEqual([7]);
    expect(requestOf("--quick", "--rates", "500").load.connections).toEqual([DEFAULT_POOL]);
  });

  test("with full load keeps the connections of full load apart from those of the rates", () => {
    const flags = ["--rates", "500", "--load-curve", "--concurrency", "20"];
    const { load, record } = requestOf(...flags, "--duration-mode", "custom:2");
    expect(load.curve).toEqual({ saturation: 20 });
    expect(load.connections).toEqual([DEFAULT_POOL]);
    expect(record.settings).toMatchObject({
      rates: "500",
      "load-curve": "true",
      concurrency: "20",
      "duration-mode": "custom:2",
    });
  });

  test("without rates chooses them before the first run", () => {
    const { load } = requestOf("--load-curve");
    expect(load.curve).toEqual({ saturation: 50, choosesRates: true });
    expect(load.rates).toHaveLength(6);
  });

  test("can have one target alone, and --plan-for a rate", () => {
    const { comparisons } = requestOf("--rates", "500", "--plan-for", "5000/s");
    expect(comparisons.planForPerSecond).toBe(5000);
    expect(planFor("--rates", "500").order).toBe("turns");
  });

  test.each<[string[], ...string[]]>([
    [["--rates", "500", "--rate", "5"], "--rate"],
    [["--load-curve", "--rate-sweep", "1:2:3"], "--rate-sweep", "--rates"],
    [["--load-curve", "--find-max-rate", "--slo", "p99<10ms"], "--find-max-rate"],
    [["--load-curve", "--slo", "p99<10ms"], "--slo"],
    [["--load-curve", "--fault", "store-restart"], "--fault"],
    [["--load-curve", "--trace", "log.csv"], "--trace"],
    [["--load-curve", "--trace-speed", "2"], "--trace-speed"],
    [["--load-curve", "--runs", "auto"], "--runs"],
    [["--load-curve", "--diagnose"], "--diagnose"],
    [["--load-curve", "--order", "interleaved"], "--order"],
    [["--load-curve", "--turn", "5,100"], "--turn"],
    [["--load-curve", "--generators", "2"], "--generators"],
    [["--load-curve", "--generators", "auto"], "--generators"],
    [["--load-curve", "--runtime", "kubernetes"], "one machine"],
    [["--load-curve", "--concurrency", "50,100"], "--concurrency"],
    [["--load-curve", "--duration-mode", "custom:1"], "--duration-mode", `${CURVE_SLICE_S.min}`],
    [["--load-curve", "--duration-mode", "custom:90"], "--duration-mode", `${CURVE_SLICE_S.max}`],
    [["--load-curve", "--duration-mode", "requests:90"], "--duration-mode"],
    [["--rates", "1,2,3,4,5,6,7,8,9,10,11"], "--rates", "at most 10"],
    [["--rates", "3", "--duration-mode", "custom:2"], "--rates 3", "give at least 10"],
    [["--plan-for", "5000/s"], "--plan-for", "--load-curve"],
  ])("is refused in one line that names the other flag: %j", async (flags, ...parts) => {
    await expectFailure(
      () => parseCampaign(["--clients", "iovalkey", ...flags], {}),
      EXIT.usage,
      ...parts,
    );
  });

  test("at the store layer is refused, because no generator of ours has its load", async () => {
    await expectFailure(
      () => parseCampaign(["--layer", "store", "--load-curve"], {}),
      EXIT.usage,
      "--layer",
    );
  });
});

test("the preset rates takes no more than half an hour for a group of five targets", () => {
  const plan = planFor("--preset", "rates", "--runtime", "local");
  const targets = new Set(
    plan.configurations.map(({ configuration }) => configuration.target.text),
  );
  expect(targets.size).toBe(5);
  expect(plan.load_curve).toMatchObject({ saturation: true });
  expect(estimateCampaignS(plan, { standalone: 2, none: 1.5 })).toBeLessThan(1800);
});

test("what the preset quick leads to is a preset", () => {
  const next = requestOf("--quick").output.leadsTo?.preset;
  expect(PRESETS.map(({ id }) => id)).toContain(next);
  expect(requestOf("--preset", "rates").output.leadsTo).toBeUndefined();
});
