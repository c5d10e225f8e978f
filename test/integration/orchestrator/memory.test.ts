import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { needs } from "../../helpers/needs.js";

const newFolder = temporaryFolders();

interface Target {
  label: string;
  slopes: { source: string; bytes_per_key: number; points: { keys: number }[] }[];
  items_per_key: number | null;
  reason: string | null;
}

const measure = (home: string, clients: string, ...flags: string[]): Campaign =>
  Campaign.command(home, [
    "memory",
    "--clients",
    clients,
    "--output",
    join(home, "results root"),
    "--cooldown",
    "0",
    "--seed",
    "1",
    ...flags,
  ]);

describe("ratelimit-bench memory", () => {
  test("gives bytes per key by each one's own source", needs(["valkey", "memcached"]), async () => {
    const clients = "iovalkey memcached memory none";
    const flags = ["--keys", "1000,3000", "--runs", "1", "--format", "json"];
    const campaign = measure(newFolder(), clients, ...flags);
    const { code, stdout, stderr } = await campaign.ended;
    expect([0, 5], stderr).toContain(code);
    const { targets } = JSON.parse(stdout) as { targets: Target[] };
    const of = (label: string) => targets.find((target) => target.label === label);
    for (const [label, source, items] of [
      ["iovalkey", "store", 1],
      ["memcached", "store_items", 2],
      ["memory", "heap", null],
    ] as const) {
      const target = of(label);
      expect(target, label).toMatchObject({ items_per_key: items, reason: null });
      const [figure] = target?.slopes ?? [];
      expect(figure?.source).toBe(source);
      // A key and its counter take more than 50 bytes anywhere, and less than a kilobyte.
      expect(figure?.bytes_per_key, label).toBeGreaterThan(50);
      expect(figure?.bytes_per_key, label).toBeLessThan(1000);
      expect(figure?.points.map(({ keys }) => keys)).toEqual([1000, 3000]);
    }
    expect(of("none")).toMatchObject({ slopes: [], reason: expect.any(String) });
    expect(campaign.report("memory.csv")).toContain("\nmemcached,");
    expect(await campaign.leftovers()).toEqual([]);
  });

  test("Ctrl-C keeps what was measured and leaves nothing running", async () => {
    const campaign = measure(newFolder(), "memory", "--keys", "1000,2000", "--runs", "200");
    await campaign.waitForLog("  measure", 3);
    const { stdout } = await campaign.interrupted();
    expect(stdout).toMatch(/^memory /m);
    expect(campaign.manifest.status).toBe("aborted");
  });
});
