import { expect, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

async function resultOf(campaign: Campaign): Promise<MeasuredResult> {
  const { stderr } = await campaign.ended;
  const [result] = campaign.measured;
  if (!result?.faults) throw new Error(`no result with faults: ${stderr}`);
  expect(result.faults.map(({ undone }) => undone)).toEqual(result.faults.map(() => true));
  expect(await campaign.leftovers()).toEqual([]);
  return result;
}

test("a relay makes round trips longer, and cuts the servers from the store, with connections that survive", async () => {
  const faults = "slow-store@3s+2s/partition@6s+2s";
  const flags = ["--rate", "200", "--duration-mode", "custom:12", "--fault", faults];
  const result = await resultOf(Campaign.run(newFolder(), "iovalkey", flags));
  const { allowed, limited, latency_sum_us } = result.slices;
  const answers = allowed.map((count, slice) => count + (limited[slice] ?? 0));
  const [slow, cut] = (result.faults ?? []).map(({ injected }) => injected);
  if (!slow || !cut) throw new Error("two faults");
  const slicesOf = ({ from_s, to_s }: typeof slow): number[] =>
    answers.flatMap((_, slice) => (slice >= 10 * from_s && slice < 10 * to_s ? [slice] : []));
  // How soon a relay does what it is told depends on the machine: half of the fault's time is
  // certain.
  const slowed = slicesOf(slow).filter(
    (slice) => (latency_sum_us[slice] ?? 0) > 20_000 * (answers[slice] ?? 0),
  );
  expect(slowed.length).toBeGreaterThanOrEqual(10);
  expect(slicesOf(cut).filter((slice) => answers[slice] === 0).length).toBeGreaterThanOrEqual(10);
  expect(Math.max(...answers.slice(Math.ceil(10 * cut.to_s) + 5))).toBeGreaterThan(0);
  expect(result.counts.failed_answers + result.counts.connection_errors).toBe(0);
  expect(result.faults?.[0]?.store_reconnections ?? 0).toBe(0);
  expect(Object.keys(result.resources)).toEqual(["generator-1", "server-1", "store-1"]);
});

test("a campaign with faults and without a rate finds one first", async () => {
  const flags = ["--duration-mode", "custom:8", "--fault", "slow-store@3s+1s"];
  const campaign = Campaign.run(newFolder(), "iovalkey", flags);
  const result = await resultOf(campaign);
  const { calibration } = campaign.manifest.plan;
  const [calibrated] = calibration?.measured ?? [];
  if (!calibrated || !calibration?.rate_per_second) throw new Error("nothing was found");
  expect(calibration.rate_per_second / calibrated.requests_per_second).toBeCloseTo(0.6, 1);
  expect(result.request.load).toMatchObject({ rate_per_second: calibration.rate_per_second });
});
