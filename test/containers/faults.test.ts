import { beforeAll, expect, test } from "vitest";
import { Campaign } from "../helpers/campaign.js";
import { added, docker, everything } from "../helpers/engine.js";
import { temporaryFolders } from "../helpers/folders.js";

const newFolder = temporaryFolders();

beforeAll(() => {
  docker("version");
});

const withFaults = (clients: string, seconds: number, ...faults: string[]): Campaign =>
  Campaign.run(newFolder(), clients, [
    ...["--runtime", "docker", "--rate", "200", "--duration-mode", `custom:${seconds}`],
    ...["--fault", faults.join(",")],
  ]);

/** Rules that a busy machine breaks, with or without a fault. */
const OF_THE_MACHINE = ["M5", "M6", "M14", "M25"];

/** The results of a campaign that left nothing, each with its faults done and undone. */
async function resultsOf(campaign: Campaign, before: readonly string[]) {
  const { stderr } = await campaign.ended;
  const results = campaign.measured;
  expect(results.length, stderr).toBeGreaterThan(0);
  for (const { faults = [], verdict, resources } of results) {
    expect(faults.map(({ undone, injected }) => undone && injected !== undefined)).not.toContain(false);
    expect(
      verdict.reasons.filter(
        ({ rule, severity }) => severity === "invalid" && !OF_THE_MACHINE.includes(rule),
      ),
    ).toEqual([]);
    // Counters go on over a restart, and over a link to the network that is replaced.
    for (const { samples } of Object.values(resources))
      for (const { received_bytes = 0 } of samples) expect(received_bytes).toBeGreaterThanOrEqual(0);
  }
  expect(added(before)).toEqual([]);
  return results;
}

test("all faults of a standalone store and its server; nothing is left", async () => {
  const before = everything();
  const results = await resultsOf(
    withFaults(
      "iovalkey",
      15,
      "store-pause@3s+0.5s/partition@4.5s+1s/script-flush@6.5s/memory-full@7s+0.5s/thundering-herd@8.5s/store-restart@9s+0.5s",
      "server-restart@3s+0.5s",
    ),
    before,
  );
  const [ofStore, ofServer] = results.toSorted((a, b) => (b.faults?.length ?? 0) - (a.faults?.length ?? 0));
  expect(ofStore?.faults).toHaveLength(6);
  const [node] = ofStore?.store?.nodes ?? [];
  expect(node?.at_end.run_id).not.toBe(node?.at_start.run_id);
  // Connections that a partition or a pause lets live are used again; a new process has accepted new ones.
  expect(ofServer?.faults?.[0]?.store_reconnections).toBeGreaterThan(0);
});

test("Ctrl-C while the store is frozen leaves nothing", async () => {
  const before = everything();
  const campaign = withFaults("iovalkey", 60, "store-pause@3s+50s");
  await campaign.waitForLog(": done to store-1");
  campaign.signal("SIGINT");
  expect((await campaign.ended).code).toBe(130);
  expect(added(before)).toEqual([]);
  expect(await campaign.leftovers()).toEqual([]);
});
