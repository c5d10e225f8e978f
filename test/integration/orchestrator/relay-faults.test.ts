import { expect, test } from "vitest";
import { sum } from "../../../src/kit/numbers.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectScheduleReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

test("a relay makes round trips longer, and cuts the servers from the store, with connections that survive; two generators have one schedule and one timeline", async () => {
  const faults = "slow-store@3s+2s/partition@5.5s+2s";
  const load = ["--generators", "2", "--workers", "2", "--rate", "400"];
  const flags = [...load, "--duration-mode", "custom:11", "--fault", faults];
  const campaign = Campaign.run(newFolder(), "iovalkey", flags);
  await campaign.endsBeforeReport();
  const [result] = campaign.measured;
  if (!result?.faults || !result.timeline) throw new Error("no result with faults");
  expect(result.faults.map(({ undone }) => undone)).toEqual([true, true]);

  expectScheduleReconciled(result);
  expect(result.generators.map(({ schedule }) => schedule?.offered)).toEqual([2200, 2200]);
  const { timeline } = result;
  expect(sum(timeline.allowed) + sum(timeline.limited)).toBe(result.requests.total);
  // What was due when the store was cut off waited for it.
  expect(Math.max(...timeline.p99_us.map((us) => us ?? 0))).toBeGreaterThan(400_000);
  expect(result.fault_figures).toBeDefined();

  const { allowed, limited, latency_sum_us } = result.slices;
  const answers = allowed.map((count, slice) => count + (limited[slice] ?? 0));
  const [slow, cut] = result.faults.map(({ injected }) => injected);
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
  expect(result.faults[0]?.store_reconnections ?? 0).toBe(0);
  expect(Object.keys(result.resources).sort()).toEqual([
    "generator-1",
    "generator-2",
    "server-1",
    "store-1",
  ]);
});

test("a campaign with faults and without a rate finds one first", async () => {
  const flags = ["--duration-mode", "custom:8", "--fault", "slow-store@3s+1s"];
  const campaign = Campaign.run(newFolder(), "iovalkey", flags);
  // The run has the rate from its start.
  await campaign.waitForLog("  warmup");
  await campaign.interrupted();
  const { calibration } = campaign.manifest.plan;
  const [calibrated] = calibration?.measured ?? [];
  if (!calibrated || !calibration?.rate_per_second) throw new Error("nothing was found");
  expect(calibration.rate_per_second / calibrated.requests_per_second).toBeCloseTo(0.6, 1);
  expect([...campaign.results.values()]).toMatchObject([
    {
      status: "aborted",
      configuration: { load: { rate_per_second: calibration.rate_per_second } },
    },
  ]);
});
