import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { referencesIn } from "../../../src/orchestrator/plan/rankings.js";
import { versionIn } from "../../../src/runtimes/own-programs.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { validCampaign } from "../../helpers/measured-campaign.js";
import { storeProgram } from "../../helpers/store.js";

const newFolder = temporaryFolders();

const real = storeProgram("valkey") ?? "";
const seen = versionIn(real && execFileSync(real, ["--version"], { encoding: "utf8" }));
const [major = "", minor = ""] = seen.split(".");

const withNode = (store = "") => `ioredis@${store}+node-${process.versions.node}`;

/** A program of its own that becomes the real store, and notes beside itself that it did. */
function program(home: string, name: string, saidVersion?: string): string {
  const path = join(home, name);
  const answer = saidVersion ? `then echo v=${saidVersion}; exit` : `then :`;
  const script = `#!/bin/sh\nif [ "$1" = --version ]; ${answer}; else echo >> "$0.starts"; fi\nexec ${real} "$@"\n`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

test("programs of one store are measured by turns, each as a row with the versions that were seen", async () => {
  const home = newFolder();
  const [first, second] = [program(home, "first"), program(home, "second")];
  const labels = [`valkey~${major}`, `valkey~${major}.${minor}`];
  const versions = `${labels[0]}=${first},${labels[1]}=${second}`;
  const campaign = await validCampaign(home, "ioredis", [
    "--store-versions",
    versions,
    "--node",
    process.execPath,
    "--duration-mode",
    "custom:1",
  ]);
  const { plan, stores } = campaign.manifest;
  expect(plan.order).toBe("turns");
  const byLabel = new Map(
    campaign.measured.map((result) => [result.configuration?.target.label, result]),
  );
  expect([...byLabel.keys()].sort()).toEqual(labels.map(withNode));
  for (const result of byLabel.values()) {
    expectReconciled(result);
    expect(result.turns?.group).toBe(2);
    expect(result.versions).toMatchObject({ store: seen, node: process.versions.node });
  }
  for (const path of [first, second]) expect(existsSync(`${path}.starts`)).toBe(true);
  expect(stores).toMatchObject({
    [labels[0] ?? ""]: { path: first, version: seen, embedded: false },
    [labels[1] ?? ""]: { path: second, version: seen, embedded: false },
  });
  expect(referencesIn(plan)).toEqual([byLabel.get(withNode(labels[0]))?.configuration_hash]);
  const summary = campaign.report("summary.csv");
  for (const label of byLabel.keys()) expect(summary).toContain(label);
});

test("a store and a Node that run with another version than their programs said make runs invalid (M19)", async () => {
  const home = newFolder();
  const store = program(home, "lying", "1.0.0");
  const node = join(home, "node-1.2.3");
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo v1.2.3 && exit\nexec ${process.execPath} "$@"\n`;
  writeFileSync(node, script, { mode: 0o755 });
  const programs = ["--program", `valkey~1.0=${store}`, "--node", node];
  const short = ["--order", "consecutive", "--duration-mode", "requests:2000"];
  const flags = [...programs, ...short];
  const campaign = Campaign.run(home, "ioredis@valkey~1.0,ioredis@valkey", flags);
  await campaign.ends(5);
  const versionsByLabel = campaign.measured.map(
    ({ configuration, versions, verdict: { reasons } }) => {
      const invalid = reasons.filter(({ severity }) => severity === "invalid");
      const reasonTexts = invalid.flatMap(({ rule, text }) => [rule, text]);
      return [configuration?.target.label, versions.store, ...reasonTexts];
    },
  );
  expect(versionsByLabel.sort()).toEqual([
    ["ioredis@valkey+node-1.2.3", seen, "M19", expect.stringContaining("Node 1.2.3")],
    ["ioredis@valkey~1.0+node-1.2.3", seen, "M19", expect.stringContaining("1.0 of the store")],
  ]);
  expect(campaign.manifest.stores["node~1.2.3"]).toEqual({
    path: node,
    version: "1.2.3",
    embedded: false,
  });
});
