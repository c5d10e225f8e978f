import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { TestStore } from "../../helpers/store.js";

const newFolder = temporaryFolders();

/** One run on a store whose faults are ours to plant; the campaign itself only reads it. */
async function onStore(parameters: readonly string[], flags: readonly string[]) {
  const store = await TestStore.start(parameters);
  onTestFinished(() => store.stop());
  const env = { STORE_URL: `redis://127.0.0.1:${store.port}` };
  return { store, campaign: Campaign.run(newFolder(), "iovalkey", flags, env) };
}

function expectBroken({ measured }: Campaign, severity: string): MeasuredResult | undefined {
  expect(measured).toHaveLength(1);
  expect(measured[0]?.verdict.reasons).toContainEqual(
    expect.objectContaining({ rule: "M14", severity }),
  );
  return measured[0];
}

test("a store of 3 MB that evicts: suspect by M14", async () => {
  const small = ["--maxmemory", "3mb", "--maxmemory-policy", "volatile-lru"];
  const flags = ["--traffic", "mixed10", "--duration-mode", "requests:5000"];
  const { campaign } = await onStore(small, flags);
  await campaign.ends();
  expectBroken(campaign, "suspect");
});

test("a store that restarts in the window: invalid by M14, so that nothing is known of the target; its failures are no 429 [R-store-dies-1]", async () => {
  const flags = ["--duration-mode", "custom:2", "--traffic", "allowed"];
  const { store, campaign } = await onStore([], flags);
  await campaign.waitForLog("measure");
  await delay(500);
  await store.kill();
  await delay(300);
  await store.run();
  const { code, stderr } = await campaign.ended;
  expect(code, stderr).toBe(5);
  const result = expectBroken(campaign, "invalid");
  expect(result).not.toHaveProperty("outcome");
  expect(result?.counts.limited).toBe(0);
  expect(result?.counts.by_code["503"]).toBeGreaterThan(0);
});
