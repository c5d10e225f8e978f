import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { validCampaign } from "../../helpers/measured-campaign.js";

const newFolder = temporaryFolders();
const SHORT = ["--duration-mode", "requests:1000"];

test("a campaign with diagnosing runs has instruments in these alone, which the report lists and does not count", async () => {
  const campaign = await validCampaign(newFolder(), "ioredis@valkey,none", [
    ...SHORT,
    "--diagnose",
  ]);
  const diagnosing = campaign.measured.filter(({ diagnosis }) => diagnosis);
  expect(campaign.measured).toHaveLength(4);
  expect(diagnosing.map(({ run }) => run)).toEqual([2, 2]);

  const client = diagnosing.find(({ configuration }) => configuration?.target.client === "ioredis");
  const { servers, nodes } = client?.diagnosis ?? { servers: {}, nodes: [] };
  const server = servers["server-1"];
  const { at_window_open, at_end } = client?.consumers[0] ?? {};
  expect(server?.requests).toBe((at_end?.requests ?? 0) - (at_window_open?.requests ?? 0));
  expect(server?.allocated_bytes).toBeGreaterThan(1_000 * (server?.requests ?? 0));
  // Each request is read from its connection and its decision from the store's, and both are
  // answered.
  expect(server?.system_calls?.writes).toBeGreaterThan(server?.requests ?? 0);
  const evidence = client?.store?.nodes[0]?.at_end.decisions ?? 0;
  expect(nodes[0]?.commands.evalsha?.calls).toBe(evidence);
  expect(nodes[0]?.commands.evalsha?.p99_us).toBeGreaterThan(0);
  expect(nodes[0]?.received_bytes).toBeGreaterThan(100 * evidence);

  const control = diagnosing.find(({ configuration }) => configuration?.target.client === "none");
  expect(control?.diagnosis?.nodes).toEqual([]);
  expect(control?.diagnosis?.servers["server-1"]?.requests).toBeGreaterThan(0);
  const rows = campaign.report("runs.csv").trim().split("\n");
  expect(rows).toHaveLength(1 + 2);
});

test("a campaign on a real cluster measures six nodes and leaves no process, socket or temporary folder", async () => {
  const campaign = await validCampaign(newFolder(), "valkey-glide:cluster", SHORT);
  const [result] = campaign.measured;
  if (!result) throw new Error("a result");
  expectReconciled(result);
  expect(result.store?.nodes).toHaveLength(6);
  const busy = result.store?.nodes.filter(({ at_end }) => Number(at_end.decisions) > 0);
  expect(busy?.map(({ role }) => role)).toEqual(["store-1", "store-2", "store-3"]);
  // Six nodes, server, generator and the probes were there, and are gone.
  expect(campaign.processCount).toBeGreaterThanOrEqual(8);
});

test("a single run, set by the environment whose OUTPUT_FILE cannot be written is refused before anything is measured", async () => {
  const home = newFolder();
  const file = join(home, "no", "such", "folder.json");
  const env = { RATE_LIMITER_TYPE: "none", OUTPUT_FILE: file, OUTPUT_DIR: home };
  const { code, stderr } = await Campaign.command(home, ["single"], env).ended;
  expect({ code, lines: stderr.trimEnd().split("\n").length }).toEqual({ code: 3, lines: 1 });
  expect(stderr).toContain("OUTPUT_FILE");
  expect(existsSync(join(home, "latest"))).toBe(false);
});

test("when the state folder vanishes, what was measured is reported, and nothing more is started [R-full-disk-5]", async () => {
  const campaign = Campaign.run(newFolder(), "none", ["--runs", "3", "--rate", "100"]);
  await campaign.waitForLog("  measure");
  rmSync(join(campaign.state, "ratelimit-bench"), { recursive: true });
  const { stderr } = await campaign.ends(4);
  expect(stderr).toMatch(/state folder.*--resume/);
  expect(campaign.measured).toHaveLength(1);
  expect(campaign.manifest.status).toBe("aborted");
  expect(existsSync(join(campaign.folder, "report", "index.html"))).toBe(true);
});
