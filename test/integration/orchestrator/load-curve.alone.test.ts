import { expect, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { CURVE_LEAD_IN_MS } from "../../../src/contract/turns.js";
import { sum } from "../../../src/kit/numbers.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectConsistent } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { endsOnBusyMachine, ownReasons } from "../../helpers/measured-campaign.js";

const newFolder = temporaryFolders();

const RATE = 400;
const SECONDS = 2;
const FLAGS = ["--rates", String(RATE), "--load-curve", "--duration-mode", `custom:${SECONDS}`];

function expectTurnReconciled(result: MeasuredResult): void {
  expectConsistent(result);
  expect(ownReasons(result)).toEqual([]);
  expect(result.turns).toMatchObject({
    curve: true,
    turns: 1,
    lead_in_ms: CURVE_LEAD_IN_MS,
    slice_ms: 1000 * SECONDS,
  });
  const sent = result.counts.sent + result.warmup.lead_in.requests;
  for (const { at_start, at_end } of result.consumers)
    expect(at_end.requests - at_start.requests).toBe(sent);
  for (const { at_start, at_end } of result.store?.nodes ?? [])
    expect((at_end.decisions ?? 0) - (at_start.decisions ?? 0)).toBe(sent);
  for (const { idle_us, cpu_us } of Object.values(result.resources)) {
    expect(idle_us).toBeUndefined();
    expect(cpu_us).toBeGreaterThan(0);
  }
}

test("each target has each load once, with the counters of its turn; an interrupted round is made again", async () => {
  const home = newFolder();
  const started = Campaign.run(home, "ioredis@valkey,none", FLAGS);
  await started.waitForLog("measure");
  await started.interrupted();

  const campaign = Campaign.resume(home);
  await endsOnBusyMachine(campaign);
  const { manifest, measured } = campaign;
  expect(manifest.plan.load_curve).toEqual({ rates: [RATE], saturation: true });
  expect(manifest.set_aside).toHaveLength(4);
  expect(measured).toHaveLength(4);
  for (const result of measured) expectTurnReconciled(result);

  const ofClient = (client: string, model: string): MeasuredResult => {
    const found = measured.find(
      ({ configuration, request }) =>
        configuration?.target.client === client && request.load.model === model,
    );
    if (!found) throw new Error(`a run of ${client} in an ${model} loop`);
    return found;
  };
  const slow = ofClient("ioredis", "open");
  const full = ofClient("ioredis", "closed");
  expect(slow.requests.average).toBeCloseTo(RATE, -1);
  expect(full.requests.average).toBeGreaterThan(2 * RATE);
  for (const role of ["server-1", "store-1"]) {
    const [atRate, atFullLoad] = [slow, full].map(
      (result) => result.resources[role]?.cpu_us_per_request ?? Number.NaN,
    );
    // The CPU time of a wake-up is shared by few requests at a low rate.
    expect(atRate).toBeGreaterThan(Number(atFullLoad));
  }
  // The store counts by key over the whole round, and its runs share what was found.
  expect(full.admissions).toEqual(slow.admissions);
  expect(slow.admissions?.status).toBe("counted");
});

test("at the limiter layer each target has a generator of its own, and each run one turn", async () => {
  const campaign = Campaign.run(newFolder(), "ioredis@valkey,iovalkey", [
    ...FLAGS,
    "--layer",
    "limiter",
  ]);
  await endsOnBusyMachine(campaign);
  expect(campaign.measured).toHaveLength(4);
  for (const result of campaign.measured) {
    expectTurnReconciled(result);
    expect(result.turns?.group).toBe(2);
    expect(result.resources["generator-1"]?.cpu_us_per_request).toBeGreaterThan(0);
    expect(sum(result.consumers.map(({ at_start }) => at_start.requests))).toBeGreaterThan(0);
  }
});
