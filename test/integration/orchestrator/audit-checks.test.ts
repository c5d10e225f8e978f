import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { CheckStatus, Finding } from "../../../src/contract/audit.js";
import { countsOf } from "../../../src/orchestrator/audit/audit-counts.js";
import { auditTarget } from "../../../src/orchestrator/audit/audit-target.js";
import { checks } from "../../../src/orchestrator/audit/checks/index.js";
import { Lease } from "../../../src/orchestrator/ownership/lease.js";
import type { LoadedPlugin } from "../../../src/plugins/load.js";
import { registerTargets } from "../../../src/plugins/register-targets.js";
import { readPlugin } from "../../../src/plugins/source.js";
import { local } from "../../../src/runtimes/local/local-runtime.js";
import type { Runtime } from "../../../src/runtimes/runtime-types.js";
import { candidatePrograms } from "../../../src/targets/candidate-programs.js";
import { build, ROOT } from "../../helpers/programs.js";
import { targetOf } from "../../helpers/target.js";

const PLUGIN = join(ROOT, "test/helpers/broken-limiters.plugin.mjs");

/**
 * What is tried, the status that it shows where it is promised, and the checks by words: those of
 * one limiter share a system.
 */
type Tried = [limiter: string, status: CheckStatus, checks: string];

const KEPT: Tried[] = [
  ["whole", "holds", "block-time script-flush store-restart clocks-500-ms clocks-2-s clocks-30-s"],
  [
    "whole",
    "holds",
    "exact-burst exact-burst-4-servers window-edge several-descriptors hostile-keys headers burst-factor long-run-rate key-without-end expiry",
  ],
  [":cluster+whole", "holds", "failover"],
  ["in-memory-block", "holds", "eviction"],
  ["fastify-rate-limit", "holds", "ipv6-prefix"],
];
/** And on one that breaks it. What a check computes of what it sees is tested without programs. */
const BROKEN: Tried[] = [
  ["read-then-write", "broken", "exact-burst exact-burst-4-servers expiry"],
  ["short-window", "broken", "window-edge long-run-rate"],
  ["careless", "broken", "block-time hostile-keys key-without-end headers"],
  ["any-key", "broken", "several-descriptors"],
  ["not-a-log", "broken", "burst-factor"],
  ["script-once", "broken", "script-flush"],
  ["gives-up", "broken", "store-restart"],
  [":cluster+gives-up", "broken", "failover"],
  ["upstash-fixed", "broken", "clocks-500-ms clocks-2-s clocks-30-s"],
  ["whole", "broken", "eviction ipv6-prefix"],
];

// The check of expiry sends thousands of requests at once: a third system beside it would let some
// time out.
vi.setConfig({ maxConcurrency: 2 });

let runtime: Runtime;
let lease: Lease;

beforeAll(async () => {
  build();
  const source = await readPlugin(PLUGIN);
  // The programs load it themselves. Here it is listed without the hooks of Node, which vitest
  // replaces.
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

test.each([[KEPT], [BROKEN]])("no check is left out", (limiters) => {
  const tried = limiters.flatMap(([, , ids]) => ids.split(" "));
  expect(tried.sort()).toEqual(checks.map(({ id }) => id).sort());
});

async function findingsOf(limiter: string, ids: readonly string[]): Promise<Finding[]> {
  const target = targetOf(`ioredis@valkey${limiter.startsWith(":") ? "" : "+"}${limiter}`);
  const { findings } = await auditTarget(
    { target, caps: {}, modules: {}, serviceEnv: undefined },
    { runtime, lease, log: () => {} },
    // A limiter without a hook is given the whole address: it is tried as one that breaks the
    // promise.
    checks.flatMap(({ unsupportedReason: _, ...each }) => (ids.includes(each.id) ? [each] : [])),
    { check: () => {}, finding: () => {} },
  );
  return findings;
}

test.concurrent.each([...KEPT, ...BROKEN])("%s %s %s", async (limiter, status, words) => {
  const ids = words.split(" ");
  const findings = await findingsOf(limiter, ids);
  const expected = checks.filter(({ id }) => ids.includes(id));
  expect(
    findings.map(({ check, status, holds, reason }) => [check, status, holds, reason]),
  ).toEqual(
    expected.map(({ id, unpromisedReason }) =>
      unpromisedReason?.({ store: "valkey" })
        ? [id, "not-promised", status === "holds", undefined]
        : [id, status, undefined, undefined],
    ),
  );
});

test.concurrent("one defect is one finding, whatever it breaks", async () => {
  const ids = ["exact-burst", "several-descriptors", "hostile-keys"];
  const findings = await findingsOf("off-by-one", ids);
  expect(findings.map(({ check, status }) => [check, status])).toEqual(
    ids.map((id) => [id, "broken"]),
  );
  const [burst, ...others] = findings;
  expect(burst).toMatchObject({ excess: 1 });
  expect(new Set(others.map(({ consequence_of }) => consequence_of))).toEqual(
    new Set(["exact-burst"]),
  );
  // Pairs of keys are judged by what a burst admits: each is counted apart.
  expect(others.at(-1)?.seen).not.toContain("wrong");
  expect(countsOf([{ findings }])).toMatchObject({ broken: 1, consequences: 2 });
});
