import { beforeAll, expect, test } from "vitest";
import { hasFigures, type MeasuredResult } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectConsistent } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build } from "../../helpers/programs.js";

beforeAll(build);
const newFolder = temporaryFolders();

const CLIENTS = "ioredis@valkey,iovalkey,none";
const FLAGS = ["--layer", "limiter", "--order", "turns"];

const measuredRuns = (campaign: Campaign): MeasuredResult[] =>
  [...campaign.results.values()].map((result) => {
    if (!hasFigures(result) || result.status !== "measured") throw new Error(JSON.stringify(result));
    return result;
  });

test("at the limiter layer each target has a generator of its own, and they have the load by turns", async () => {
  const campaign = Campaign.run(newFolder(), CLIENTS, FLAGS);
  await campaign.endsWell();
  expect(await campaign.leftovers()).toEqual([]);
  const results = measuredRuns(campaign);
  expect(results).toHaveLength(3);
  for (const result of results) {
    expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
    expectConsistent(result);
    expect(result.turns).toMatchObject({
      group: 3,
      ...campaign.manifest.turns?.[String(result.configuration_hash)],
    });
    expect(result.turns?.slice_ms).toBeGreaterThanOrEqual(500);
    expect(result.turns?.turns).toBe(5);
    const consumer = result.consumers[0];
    expect(consumer?.id).toBe("generator-1");
    expect(result.resources["generator-1"]?.cpu_us_per_request).toBeGreaterThan(0);
    // The counters that are read, between the drained moments, are those of this target alone.
    const { requests } = consumer?.at_end ?? { requests: 0 };
    expect(requests).toBe(result.warmup.requests + result.counts.sent);
  }
});

test("Ctrl-C in a turn leaves nothing", async () => {
  const campaign = Campaign.run(newFolder(), CLIENTS, [...FLAGS, "--duration-mode", "custom:30"]);
  await campaign.waitForLog("measure");
  campaign.signal("SIGINT");
  const { code, stderr } = await campaign.ended;
  expect(code, stderr).toBe(130);
  expect([...campaign.results.values()].map(({ status }) => status)).toEqual(Array(3).fill("aborted"));
  expect(await campaign.leftovers()).toEqual([]);
});

test("a store that dies in a turn fails its run alone", async () => {
  const campaign = Campaign.run(newFolder(), "ioredis@valkey,iovalkey", FLAGS);
  const store = await campaign.part("store-1");
  await campaign.waitForLog("measure");
  process.kill(store, "SIGKILL");
  const { code, stderr } = await campaign.ended;
  expect(code, stderr).toBe(4);
  const statuses = [...campaign.results.values()].map(({ status }) => status).sort();
  expect(statuses).toEqual(["failed", "measured"]);
  expect(await campaign.leftovers()).toEqual([]);
});
