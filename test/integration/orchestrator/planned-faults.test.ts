import { describe, expect, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

/** A campaign of one run with these faults, at a low rate. */
const withFaults = (
  clients: string,
  seconds: number,
  faults: string,
  ...flags: string[]
): Campaign =>
  Campaign.run(newFolder(), clients, [
    "--rate",
    "200",
    "--duration-mode",
    `custom:${seconds}`,
    "--fault",
    faults,
    ...flags,
  ]);

/** Rules that a busy machine breaks, with or without a fault. */
const OF_THE_MACHINE = ["M5", "M6", "M25"];
const rulesOf = ({ verdict }: MeasuredResult): string[] =>
  verdict.reasons.flatMap(({ rule }) => (OF_THE_MACHINE.includes(rule) ? [] : [rule]));

/** The only result, of which each fault was done, not before its time, and undone. */
async function resultOf(campaign: Campaign): Promise<MeasuredResult> {
  await campaign.endsBeforeReport();
  const [result] = campaign.measured;
  if (!result?.faults) throw new Error("no result with faults");
  for (const { injected, planned, undone } of result.faults) {
    expect(undone).toBe(true);
    // The clock of the load generator may be some milliseconds off.
    expect(injected?.from_s).toBeGreaterThan(planned.start_s - 0.1);
    expect(injected?.to_s).toBeGreaterThanOrEqual((injected?.from_s ?? 0) + planned.length_s - 0.1);
  }
  return result;
}

describe("planned faults are done and undone, and no rule takes them for faults of the measurement:", () => {
  test("of a store", async () => {
    const faults =
      "store-pause@3s+0.5s/script-flush@4s/memory-full@4.5s+0.5s/thundering-herd@5.5s/store-restart@6s+0.5s";
    const result = await resultOf(withFaults("iovalkey", 10, faults));
    const names = faults.split("/").map((fault) => fault.replace(/@.*/, ""));
    expect(result.faults?.map(({ name }) => name)).toEqual(names);
    expect(rulesOf(result)).toEqual([]);
    const [node] = result.store?.nodes ?? [];
    expect(node?.at_end.run_id).not.toBe(node?.at_start.run_id);
    expect(node?.at_end.evicted_keys).toBe(0);
    // While its memory was full, and while it was down.
    const failedDuring = (fault: string) => {
      const { from_s = 0, to_s = 0 } =
        result.faults?.find(({ name }) => name === fault)?.injected ?? {};
      const slices = result.slices.failed.slice(Math.floor(10 * from_s), Math.ceil(10 * to_s) + 1);
      return slices.reduce((sum, count) => sum + count, 0);
    };
    expect(failedDuring("memory-full")).toBeGreaterThan(0);
    expect(failedDuring("store-restart")).toBeGreaterThan(0);
    // Its counters go on where those of the killed process ended.
    expect(result.resources["store-1"]?.cpu_us).toBeGreaterThan(0);
  });

  test("of one server alone", async () => {
    const result = await resultOf(
      withFaults("iovalkey", 7, "one-of-n-servers@3s+0.5s", "--servers", "2"),
    );
    expect(result.faults).toMatchObject([{ roles: ["server-1"], store_reconnections: 1 }]);
    expect(rulesOf(result)).toEqual([]);
    const uptimes = result.consumers.map(({ at_end }) => at_end.uptime_s);
    expect(uptimes[0]).toBeLessThan(uptimes[1] ?? 0);
  });

  test("of a cluster; a killed primary stays down and is not read", async () => {
    const result = await resultOf(
      withFaults("iovalkey:cluster", 8, "primary-pause@3s+0.5s/manual-failover@4s/kill:store-2@5s"),
    );
    expect(result.faults?.map(({ roles }) => roles)).toEqual([
      ["store-1"],
      ["store-1"],
      ["store-2"],
    ]);
    expect(rulesOf(result)).toEqual([]);
    expect(result.store?.nodes.map(({ role }) => role)).toEqual(
      [1, 3, 4, 5, 6].map((node) => `store-${node}`),
    );
  });
});

test("an end that no fault explains still fails the run", async () => {
  const campaign = withFaults("iovalkey", 10, "store-restart@3s+0.5s");
  const server = await campaign.part("server-1");
  await campaign.waitForLog(": undone");
  process.kill(server, "SIGKILL");
  await campaign.ends(4);
  expect([...campaign.results.values()]).toMatchObject([
    { status: "failed", failure: { role: "server-1" } },
  ]);
});

test("Ctrl-C while a store is stopped, or down, leaves nothing [R-interrupt-8]", async () => {
  const interrupted = async (fault: string) => {
    const campaign = withFaults("iovalkey", 60, fault);
    await campaign.waitForLog(": done to store-1");
    await campaign.interrupted();
  };
  await Promise.all(["store-pause@3s+50s", "store-restart@3s+50s"].map(interrupted));
});

test("what the local runtime cannot do is skipped with the reason, and exits with 2 where nothing is left", async () => {
  const campaign = withFaults("iovalkey:cluster", 8, "partition@3s+1s");
  const { stderr } = await campaign.ends(2);
  expect(stderr).toContain("partition@3s+1s");
});
