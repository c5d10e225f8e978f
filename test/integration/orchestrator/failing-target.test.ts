import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

/** Short runs, of whose 1000 consumes 20 fail where the target is broken. */
const SHORT = ["--layer", "limiter", "--traffic", "allowed", "--duration-mode", "requests:1000"];

/**
 * Two equal clients without a store: `steady` always decides, `flaky` fails 2 % of the consumes of
 * its second run.
 */
const plugin = (runsFile: string): string => `
import { appendFileSync, readFileSync } from "node:fs";

const client = (id) => ({
  id,
  stores: ["memory"],
  topologies: ["none"],
  control: false,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  limiter: id,
  autoPipelining: () => "it has no connection",
  open: async () => ({
    handle: undefined,
    settings: {},
    storeVersion: async () => undefined,
    shardKeys: async () => ["preload"],
    close: async () => {},
  }),
});

const limiter = (id, fails) => ({
  id,
  async create() {
    const isBroken = fails();
    let consumes = 0;
    const consume = () =>
      new Promise((resolve) => {
        const broken = isBroken && ++consumes % 50 === 0;
        setTimeout(resolve, 1, broken ? { outcome: "failed", error: new Error("planted") } : { outcome: "allowed" });
      });
    const exhausted = { consume: async () => ({ outcome: "limited", limit: 0, remaining: 0, msBeforeNext: 1 }) };
    return { version: "1.0.0", standard: { consume }, exhausted };
  },
});

/** Each run starts a process of its own, so the count of runs is kept in a file. */
function isSecondRun() {
  appendFileSync(${JSON.stringify(runsFile)}, "x");
  return readFileSync(${JSON.stringify(runsFile)}, "utf8") === "xx";
}

export default {
  clients: [client("steady"), client("flaky")],
  limiters: [limiter("steady", () => false), limiter("flaky", isSecondRun)],
};
`;

test("a target that fails its load in one of three runs is measured to the end, and the report says so (M24) [R-spoiled-1]", async () => {
  const home = newFolder();
  const path = join(home, "flaky.mjs");
  writeFileSync(path, plugin(join(home, "runs of flaky")));
  const campaign = Campaign.run(home, "steady,flaky", ["--plugin", path, ...SHORT, "--runs", "3"]);
  const { code, stderr } = await campaign.ended;
  // No run is invalid, and both configurations have runs that were served.
  expect(code, stderr).toBe(0);
  const outcomesOf = (label: string) =>
    campaign.measured
      .filter(({ configuration }) => configuration?.target.label === label)
      .map(({ outcome }) => outcome)
      .sort();
  expect(outcomesOf("steady")).toEqual(["served", "served", "served"]);
  expect(outcomesOf("flaky")).toEqual(["failed", "served", "served"]);
  const report = (name: string): string =>
    readFileSync(join(campaign.folder, "report", name), "utf8");
  const rows: { label: string; runs: number; served_runs: number; spoiled_runs: number }[] =
    JSON.parse(report("summary.json")).configurations;
  const flaky = rows.find(({ label }) => label === "flaky");
  expect(flaky).toMatchObject({ runs: 3, served_runs: 2, spoiled_runs: 1 });
});

test("a configuration whose only run failed has no figures, and the campaign ends with 4 (M24) [R-spoiled-2]", async () => {
  const home = newFolder();
  const path = join(home, "flaky.mjs");
  const runsFile = join(home, "runs of flaky");
  writeFileSync(path, plugin(runsFile));
  // The next run of flaky is its second.
  writeFileSync(runsFile, "x");
  const campaign = Campaign.run(home, "flaky", ["--plugin", path, ...SHORT]);
  await campaign.ends(4);
  expect(campaign.measured.map(({ outcome }) => outcome)).toEqual(["failed"]);
  const [row] = JSON.parse(campaign.report("summary.json")).configurations;
  expect(row).toMatchObject({ served_runs: 0, spoiled_runs: 1, requests_per_second: null });
});
