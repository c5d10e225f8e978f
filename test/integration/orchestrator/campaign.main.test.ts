import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findStore } from "../../../src/targets/resolve.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectComplete } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { measuredCampaign } from "../../helpers/measured-campaign.js";
import { needs } from "../../helpers/needs.js";
import { isSetUp } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

describe("a campaign of each client leaves reconciled results, a report, and nothing else:", () => {
  test.each(["valkey-glide", "iovalkey", "ioredis@valkey", "node-redis@valkey"])("%s", expectWhole);
  test("memcached", needs(["memcached"]), () => expectWhole("memcached"));
  test("a client and the controls, by turns", () => expectWhole("iovalkey,none,memory"));

  async function expectWhole(asked: string): Promise<void> {
    const campaign = await measuredCampaign(newFolder(), asked, ["--duration-mode", "custom:1"]);
    await expectComplete(campaign);
    expect(campaign.measured).toHaveLength(asked.split(",").length);
    for (const result of campaign.measured) {
      const { target, load, extent } = result.configuration ?? {};
      const name = `${target?.label.replaceAll(/[@:]/g, "-")}_light_8c_1s_run1.json`;
      expect([...campaign.results.keys()]).toContain(name);
      expect([load, extent]).toEqual([{ model: "closed", connections: 8 }, { duration_s: 1 }]);
      const expected = target?.limiter === "none" ? undefined : 0.1;
      expect(result.prediction?.limited_share).toBe(expected);
      const share = result.counts.limited / result.requests.total;
      expect(Math.abs(share - (expected ?? 0))).toBeLessThanOrEqual(
        result.prediction?.tolerance ?? 0,
      );
      expect(result.cpu_usage).toBeGreaterThan(0);
      expect(result.memory_usage).toBeGreaterThan(1_000_000);
      const store = findStore(target?.store ?? "").program ? ["store-1"] : [];
      expect(Object.keys(result.resources).sort()).toEqual(["generator-1", "server-1", ...store]);
      // Those of several machines.
      for (const member of ["placement", "links", "machine_load"])
        expect(result).not.toHaveProperty(member);
    }
    const { folder, manifest } = campaign;
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining(["README.md", "benchmark.log", "manifest.json", "report"]),
    );
    expect(readlinkSync(join(folder, "..", "latest"))).toBe(basename(folder));
    expect(manifest).toMatchObject({ campaign: basename(folder), runtime: { id: "local" } });
    expect(readFileSync(join(folder, "README.md"), "utf8")).toContain(manifest.command);
    expect(manifest.command).toContain("--seed 1");
  }
});

test.skipIf(!isSetUp())(
  "a single run, set by the environment, is written where OUTPUT_FILE says, too",
  async () => {
    const home = newFolder();
    const copy = join(home, "a copy.json");
    const env = {
      RATE_LIMITER_TYPE: "memory",
      DURATION: "1",
      CONNECTIONS: "4",
      WARMUP: "0.2",
      OUTPUT_DIR: join(home, "results root"),
      OUTPUT_FILE: copy,
    };
    const campaign = Campaign.script(home, "run-benchmark.sh", env);
    await campaign.ends();
    expect([...campaign.results.keys()]).toEqual(["memory_light_4c_1s_run1.json"]);
    expect(JSON.parse(readFileSync(copy, "utf8"))).toEqual([...campaign.results.values()][0]);
  },
);
