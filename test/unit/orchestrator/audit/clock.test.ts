import { afterEach, expect, test, vi } from "vitest";
import { auditTarget } from "../../../../src/orchestrator/audit/audit-target.js";
import { AuditedSystem } from "../../../../src/orchestrator/audit/audited-system.js";
import type { Check } from "../../../../src/orchestrator/audit/check.js";
import type { PartPlace } from "../../../../src/orchestrator/run/part-supervisor.js";
import { UnfitAnswer } from "../../../../src/orchestrator/run/store/run-store.js";
import { targetOf } from "../../../helpers/target.js";

afterEach(() => vi.restoreAllMocks());

const systemNow = Date.now;

/** Sets the clock of this process on from where it is. */
function setClock(by_ms: number): void {
  const before = Date.now;
  Date.now = () => before() + by_ms;
}
afterEach(() => {
  Date.now = systemNow;
});

/** A check that does something in each of its attempts. */
function checkOf(id: string, work: (attempt: number) => void): Check {
  let attempts = 0;
  return {
    id,
    title: id,
    promise: "",
    matters: "",
    async run() {
      work(++attempts);
      return { status: "holds", promised: "20", seen: `20 in attempt ${attempts}` };
    },
  };
}

/** What an audit finds, and on how many systems. */
async function auditOf(...checks: Check[]) {
  const use = vi
    .spyOn(AuditedSystem, "use")
    .mockImplementation((_settings, _place, work) => work({} as AuditedSystem));
  const { findings } = await auditTarget(
    { target: targetOf("ioredis@valkey"), caps: {}, modules: {}, serviceEnv: undefined },
    { runtime: { id: "local" } } as PartPlace,
    checks,
    { check: () => {}, finding: () => {} },
  );
  return { findings, systems: use.mock.calls.length };
}

const nothing = () => {};

test("a check in which the system clock was set is repeated on a fresh system, with those after it [R-clock-2]", async () => {
  const { findings, systems } = await auditOf(
    checkOf("first", nothing),
    checkOf("second", (attempt) => attempt === 1 && setClock(-3_600_000)),
    checkOf("third", nothing),
  );
  expect(findings.map(({ check, status, seen }) => [check, status, seen])).toEqual([
    ["first", "holds", "20 in attempt 1"],
    ["second", "holds", "20 in attempt 2"],
    ["third", "holds", "20 in attempt 1"],
  ]);
  expect(systems).toBe(2);
});

test("where it is set again and again the check was not made, and says why", async () => {
  const { findings, systems } = await auditOf(
    checkOf("first", nothing),
    checkOf("second", () => setClock(5000)),
  );
  expect(findings).toMatchObject([
    { check: "first", status: "holds" },
    { check: "second", status: "failed", reason: expect.stringContaining("set by 5 s") },
  ]);
  expect(systems).toBe(3);
});

test("an answer of the store that does not fit fails the check that asked for it, and no other [R-unfit-2]", async () => {
  const { findings, systems } = await auditOf(
    checkOf("first", () => {
      throw new UnfitAnswer("store", "an answer of valkey does not fit: readings.0.keys is -1");
    }),
    checkOf("second", nothing),
  );
  expect(findings).toMatchObject([
    { status: "failed", reason: expect.stringContaining("valkey") },
    { status: "holds" },
  ]);
  expect(systems).toBe(1);
});
