import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CheckStatus, Finding } from "../../../src/contract/audit.js";
import { auditTarget } from "../../../src/orchestrator/audit/audit-target.js";
import { checks } from "../../../src/orchestrator/audit/checks/index.js";
import { Lease } from "../../../src/orchestrator/ownership/lease.js";
import { registerPlugins } from "../../../src/orchestrator/run/plugins.js";
import { local } from "../../../src/runtimes/local/runtime.js";
import type { Runtime } from "../../../src/runtimes/types.js";
import { candidatePrograms, resolveTarget } from "../../../src/targets/resolve.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build, ROOT } from "../../helpers/programs.js";

const PLUGIN = join(ROOT, "test/helpers/broken-limiters.plugin.mjs");
const newFolder = temporaryFolders();

/** The limiter that breaks each check, and no other limiter of the plugin need do so. */
const BROKEN: readonly [check: string, limiter: string][] = [
  ["exact-burst", "read-then-write"],
  ["exact-burst-4-servers", "in-process"],
  ["window-edge", "short-window"],
  ["burst-factor", "not-a-log"],
  ["long-run-rate", "long-window"],
  ["several-descriptors", "any-key"],
  ["block-time", "renewed-block"],
  ["expiry", "without-expire"],
  ["key-without-end", "expire-once"],
  ["headers", "untrue-headers"],
  ["hostile-keys", "cut-keys"],
];

let runtime: Runtime;
let lease: Lease;

beforeAll(async () => {
  build();
  await registerPlugins([PLUGIN]);
  process.env.XDG_STATE_HOME = newFolder();
  lease = await Lease.open("audit-checks");
  runtime = await local.open({
    packageFolder: ROOT,
    workFolder: lease.workFolder,
    programs: candidatePrograms(["ioredis@valkey"]).flatMap(({ id, program }) =>
      program === undefined ? [] : [{ id, command: program }],
    ),
    plugins: await pluginSources(),
    owner: lease.owner,
    campaign: "audit-checks",
    signal: new AbortController().signal,
    hold: async () => {},
    onSetupStep: () => {},
  });
});

afterAll(async () => {
  await lease.close();
  await runtime.close();
});

const pluginSources = async () =>
  (await registerPlugins([PLUGIN])).map(({ path, facts }) => ({ path, facts }));

/** What the named checks show of a limiter of the plugin. */
async function findings(limiter: string, ids: readonly string[]): Promise<Map<string, Finding>> {
  const resolution = resolveTarget(`ioredis@valkey+${limiter}`);
  if ("skip" in resolution) throw new Error(resolution.skip);
  const chosen = checks.filter(({ id }) => ids.includes(id));
  const audited = await auditTarget(
    { target: resolution.target, caps: {}, modules: {}, serviceEnv: undefined },
    { runtime, lease, log: () => {} },
    chosen,
    { check: () => {}, finding: () => {} },
  );
  return new Map(audited.findings.map((finding) => [finding.check, finding]));
}

const withStatus = (found: ReadonlyMap<string, Finding>, status: CheckStatus) =>
  [...found.values()].filter((finding) => finding.status === status);

test("every check has a limiter that breaks it", () => {
  expect(BROKEN.map(([check]) => check)).toEqual(checks.map(({ id }) => id));
});

describe("checks", () => {
  test.concurrent.each(BROKEN)("%s is broken by the limiter %s", async (check, limiter) => {
    const found = await findings(limiter, [check]);
    expect(withStatus(found, "broken")).toEqual([...found.values()]);
    expect(found.size).toBe(1);
  });

  test.concurrent("all hold for a limiter that keeps its promises", async () => {
    const found = await findings(
      "whole",
      checks.map(({ id }) => id),
    );
    expect([...found.values()].filter(({ status }) => status !== "holds")).toEqual([]);
    expect(found.size).toBe(checks.length);
  });
});
