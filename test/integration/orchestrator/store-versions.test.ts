import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { versionIn } from "../../../src/runtimes/own-programs.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { storeProgram } from "../../helpers/store.js";

const newFolder = temporaryFolders();

const real = storeProgram("valkey") ?? "";
const seen = versionIn(real && execFileSync(real, ["--version"], { encoding: "utf8" }));
const [major = "", minor = ""] = seen.split(".");

/** A program of its own that becomes the real store, and notes beside itself that it did. */
function program(home: string, name: string, saidVersion?: string): string {
  const path = join(home, name);
  const said = saidVersion ? `then echo v=${saidVersion}; exit` : `then :`;
  const script = `#!/bin/sh\nif [ "$1" = --version ]; ${said}; else echo >> "$0.starts"; fi\nexec ${real} "$@"\n`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

test("programs of one store are measured by turns, each as a row with the version that was seen", async () => {
  const home = newFolder();
  const [first, second] = [program(home, "first"), program(home, "second")];
  const labels = [`valkey~${major}`, `valkey~${major}.${minor}`];
  const versions = `${labels[0]}=${first},${labels[1]}=${second}`;
  const campaign = Campaign.run(home, "ioredis", ["--store-versions", versions]);
  await campaign.ends();
  const { plan, stores } = campaign.manifest;
  expect(plan.order).toBe("turns");
  const byLabel = new Map(campaign.measured.map((each) => [each.configuration?.target.label, each]));
  expect([...byLabel.keys()].sort()).toEqual(labels.map((label) => `ioredis@${label}`));
  for (const result of byLabel.values()) {
    expectReconciled(result);
    expect(result.turns?.group).toBe(2);
    expect(result.versions.store).toBe(seen);
    expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
  }
  for (const path of [first, second]) expect(existsSync(`${path}.starts`)).toBe(true);
  expect(stores).toEqual({
    [labels[0] ?? ""]: { path: first, version: seen, embedded: false },
    [labels[1] ?? ""]: { path: second, version: seen, embedded: false },
  });
  expect(plan.references).toEqual([byLabel.get(`ioredis@${labels[0]}`)?.configuration_hash]);
  const summary = campaign.report("summary.csv");
  for (const label of byLabel.keys()) expect(summary).toContain(label);
});

test("another version than was asked for ends the campaign in one line before anything is measured", async () => {
  const home = newFolder();
  const campaign = Campaign.run(home, "ioredis@valkey~1.0", ["--program", `valkey~1.0=${real}`]);
  const { code, stderr } = await campaign.ended;
  expect(stderr).toMatch(/^[^\n]*--program valkey~1\.0=PATH[^\n]*\n$/);
  expect(code).toBe(3);
  expect(existsSync(join(home, "results root"))).toBe(false);
  expect(await campaign.leftovers()).toEqual([]);
});

test("a store that runs with another version than its program said makes its run invalid (M19)", async () => {
  const home = newFolder();
  const path = program(home, "lying", "1.0.0");
  const campaign = Campaign.run(home, "ioredis@valkey~1.0", ["--program", `valkey~1.0=${path}`]);
  await campaign.ends(5);
  const [result] = campaign.measured;
  expect(result?.versions.store).toBe(seen);
  expect(result?.verdict.reasons).toContainEqual(
    expect.objectContaining({ rule: "M19", severity: "invalid" }),
  );
});

test("the server runs in the Node that its target names, and one that lies about its version is found out (M19)", async () => {
  const home = newFolder();
  const lying = join(home, "node-1.2.3");
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo v1.2.3 && exit\nexec ${process.execPath} "$@"\n`;
  writeFileSync(lying, script, { mode: 0o755 });
  const nodes = ["--node", `${process.execPath},${lying}`];
  const campaign = Campaign.run(home, "ioredis@valkey", nodes);
  await campaign.ends(5);
  const own = process.versions.node;
  const found = campaign.measured.map(({ configuration, versions, verdict: { reasons } }) => {
    const invalid = reasons.filter(({ severity }) => severity === "invalid");
    return [configuration?.target.label, versions.node, ...invalid.map(({ rule }) => rule)];
  });
  expect(found.sort()).toEqual([
    ["ioredis@valkey+node-1.2.3", own, "M19"],
    [`ioredis@valkey+node-${own}`, own],
  ]);
  const { plan, stores } = campaign.manifest;
  expect(plan.order).toBe("turns");
  expect(stores["node~1.2.3"]).toEqual({ path: lying, version: "1.2.3", embedded: false });
});
