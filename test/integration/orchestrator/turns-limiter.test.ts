import { expect, test } from "vitest";
import { MIN_CYCLES } from "../../../src/contract/turns.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectConsistent } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { validCampaign } from "../../helpers/measured-campaign.js";

const newFolder = temporaryFolders();

const CLIENTS = "ioredis@valkey,none";
const FLAGS = ["--layer", "limiter", "--order", "turns"];

test("at the limiter layer each target has a generator of its own, and they have the load by turns", async () => {
  const campaign = await validCampaign(newFolder(), CLIENTS, FLAGS);
  expect(campaign.measured).toHaveLength(2);
  for (const result of campaign.measured) {
    expectConsistent(result);
    expect(result.turns).toMatchObject({
      group: 2,
      ...campaign.manifest.turns?.[String(result.configuration_hash)],
    });
    expect(result.turns?.slice_ms).toBeGreaterThanOrEqual(500);
    expect(result.turns?.turns).toBe(MIN_CYCLES);
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
  await campaign.interrupted();
  expect([...campaign.results.values()].map(({ status }) => status)).toEqual(
    Array(2).fill("aborted"),
  );
});

test("a store that dies in a turn fails its run alone", async () => {
  const campaign = Campaign.run(newFolder(), CLIENTS, [...FLAGS, "--turn", "5,100"]);
  const store = await campaign.part("store-1");
  await campaign.waitForLog("measure");
  process.kill(store, "SIGKILL");
  await campaign.ends(4);
  const statuses = [...campaign.results.values()].map(({ status }) => status).sort();
  expect(statuses).toEqual(["failed", "measured"]);
});
