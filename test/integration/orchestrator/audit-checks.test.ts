import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { CheckStatus } from "../../../src/contract/audit.js";
import { auditTarget } from "../../../src/orchestrator/audit/audit.js";
import { checks } from "../../../src/orchestrator/audit/checks/index.js";
import { Lease } from "../../../src/orchestrator/ownership/lease.js";
import type { LoadedPlugin } from "../../../src/plugins/load.js";
import { registerTargets } from "../../../src/plugins/register-targets.js";
import { readPlugin } from "../../../src/plugins/source.js";
import { local } from "../../../src/runtimes/local/runtime.js";
import type { Runtime } from "../../../src/runtimes/types.js";
import { candidatePrograms } from "../../../src/targets/resolve.js";
import { build, ROOT } from "../../helpers/programs.js";
import { targetOf } from "../../helpers/target.js";

const PLUGIN = join(ROOT, "test/helpers/broken-limiters.plugin.mjs");

type Case = [check: string, limiter: string, topology?: string, keeper?: string];

/** The limiter that breaks each check; what the check computes of what it sees is tested without programs. */
const CASES: Case[] = [
  ["exact-burst", "read-then-write"],
  ["exact-burst-4-servers", "in-process"],
  ["window-edge", "short-window"],
  ["several-descriptors", "any-key"],
  ["block-time", "renewed-block"],
  ["hostile-keys", "cut-keys"],
  ["burst-factor", "not-a-log"],
  ["long-run-rate", "long-window"],
  ["expiry", "without-expire"],
  ["key-without-end", "expire-once"],
  ["script-flush", "script-once"],
  ["store-restart", "gives-up"],
  ["failover", "gives-up", ":cluster"],
  ["headers", "untrue-headers"],
  ["clocks-500-ms", "upstash-fixed"],
  ["clocks-2-s", "upstash-fixed"],
  ["clocks-30-s", "upstash-fixed"],
  ["eviction", "whole", "", "in-memory-block"],
  ["ipv6-prefix", "whole", "", "fastify-rate-limit"],
];

let runtime: Runtime;
let lease: Lease;

beforeAll(async () => {
  build();
  const source = await readPlugin(PLUGIN);
  // The programs load it themselves. Here it is listed without the hooks of Node, which vitest replaces.
  const { default: members } = (await import(PLUGIN)) as { default: LoadedPlugin["members"] };
  registerTargets([{ ...source, members }]);
  vi.stubEnv("XDG_STATE_HOME", mkdtempSync(join(tmpdir(), "audit-checks-")));
  lease = await Lease.open("audit-checks");
  runtime = await local.open({
    packageFolder: ROOT,
    workFolder: lease.workFolder,
    programs: candidatePrograms(["ioredis@valkey"]).flatMap(({ id, program }) =>
      program === undefined ? [] : [{ id, command: program }],
    ),
    plugins: [source],
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
  rmSync(process.env.XDG_STATE_HOME ?? "", { recursive: true });
  vi.unstubAllEnvs();
});

/** What a check shows of a limiter of the plugin. */
async function statuses(limiter: string, check: string, topology = ""): Promise<CheckStatus[]> {
  const target = targetOf(`ioredis@valkey${topology}+${limiter}`);
  const audited = await auditTarget(
    { target, caps: {}, modules: {}, serviceEnv: undefined },
    { runtime, lease, log: () => {} },
    // A limiter without a hook is given the whole address: it is tried as one that breaks the promise.
    checks.flatMap(({ unsupportedReason: _, ...each }) => (each.id === check ? [each] : [])),
    { check: () => {}, finding: () => {} },
  );
  return audited.findings.map(({ status }) => status);
}

test("every check has a limiter that breaks it", () => {
  expect(CASES.map(([check]) => check).sort()).toEqual(checks.map(({ id }) => id).sort());
});

test.each(CASES)(
  "the check %s tells %s from a limiter that keeps its promises",
  async (check, limiter, topology, keeper = "whole") => {
    const both = [statuses(limiter, check, topology), statuses(keeper, check, topology)];
    expect(await Promise.all(both)).toEqual([["broken"], ["holds"]]);
  },
);
