import { beforeAll, expect, test } from "vitest";
import { Campaign } from "../helpers/campaign.js";
import { added, docker, everything } from "../helpers/engine.js";
import { temporaryFolders } from "../helpers/folders.js";

const newFolder = temporaryFolders();

beforeAll(() => {
  docker("version");
});

/** Rules that a busy machine breaks, with or without a fault. */
const OF_THE_MACHINE = ["M5", "M6", "M14", "M25"];

test("all faults of a standalone store and its server are done and undone; nothing is left", async () => {
  const before = everything();
  const faults =
    "store-pause@3s+0.5s/partition@4.5s+1s/script-flush@6.5s/memory-full@7s+0.5s/thundering-herd@8.5s/store-restart@9s+0.5s";
  const campaign = Campaign.run(newFolder(), "iovalkey", [
    "--runtime",
    "docker",
    "--rate",
    "200",
    "--duration-mode",
    "custom:15",
    "--fault",
    `${faults}/server-restart@11.5s+0.5s`,
  ]);
  const { stderr } = await campaign.ended;
  const [result] = campaign.measured;
  if (!result) throw new Error(stderr);
  const { faults: done = [], verdict, resources, store, consumers } = result;
  expect(done.map(({ undone, injected }) => undone && injected !== undefined)).toEqual(
    Array(7).fill(true),
  );
  const broken = verdict.reasons.filter(({ severity }) => severity === "invalid");
  expect(broken.filter(({ rule }) => !OF_THE_MACHINE.includes(rule))).toEqual([]);
  // Counters go on over a restart, and over a link to the network that is replaced.
  for (const { samples } of Object.values(resources))
    for (const { received_bytes = 0 } of samples) expect(received_bytes).toBeGreaterThanOrEqual(0);
  const [node] = store?.nodes ?? [];
  expect(node?.at_end.run_id).not.toBe(node?.at_start.run_id);
  // One that was not restarted was up before the window.
  expect(consumers[0]?.at_end.uptime_s).toBeLessThan(result.duration);
  expect(added(before)).toEqual([]);
});
