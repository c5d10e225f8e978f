import { beforeAll, expect, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build } from "../../helpers/programs.js";

beforeAll(build);
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
  const faults = "slow-store@1s+1s/partition@3s+1s";
  const flags = ["--rate", "200", "--duration-mode", "custom:7", "--fault", faults];
  const result = await resultOf(Campaign.run(newFolder(), "iovalkey", flags));
  const { allowed, limited, latency_sum_us } = result.slices;
  const answered = (from: number, to: number) =>
    allowed.slice(from, to).map((count, index) => count + (limited[from + index] ?? 0));
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  const [slow, cut] = (result.faults ?? []).map(({ injected }) => injected);
  if (!slow || !cut) throw new Error("two faults");
  // Between the tenths in which it begins and ends, and those beside them.
  const within = ({ from_s, to_s }: typeof slow): [number, number] => [
    Math.ceil(10 * from_s) + 1,
    Math.floor(10 * to_s) - 1,
  ];
  const slow_us = total(latency_sum_us.slice(...within(slow))) / total(answered(...within(slow)));
  expect(slow_us).toBeGreaterThan(20_000);
  expect(total(answered(...within(cut)))).toBe(0);
  expect(total(answered(Math.ceil(10 * cut.to_s) + 5, 70))).toBeGreaterThan(0);
  expect(result.counts.failed_answers + result.counts.connection_errors).toBe(0);
  expect(result.faults?.[0]?.store_reconnections ?? 0).toBe(0);
  expect(result.notes).toContain("a relay stood between servers and store in the whole run");
  expect(Object.keys(result.resources)).toEqual(["generator-1", "server-1", "store-1"]);
});

test("a campaign with faults and without a rate finds one first", async () => {
  const flags = ["--duration-mode", "custom:6", "--fault", "slow-store@1s+1s"];
  const campaign = Campaign.run(newFolder(), "iovalkey", flags);
  const result = await resultOf(campaign);
  const { calibration } = campaign.manifest.plan;
  const [found] = calibration?.measured ?? [];
  if (!found || !calibration?.rate_per_second) throw new Error("nothing was found");
  expect(calibration.rate_per_second / found.requests_per_second).toBeCloseTo(0.6, 1);
  expect(result.request.load).toMatchObject({ rate_per_second: calibration.rate_per_second });
});
