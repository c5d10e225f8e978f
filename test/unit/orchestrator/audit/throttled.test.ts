import { afterEach, expect, test, vi } from "vitest";
import { auditTarget } from "../../../../src/orchestrator/audit/audit-target.js";
import { AuditedSystem } from "../../../../src/orchestrator/audit/audited-system.js";
import type { Check, CheckOutcome } from "../../../../src/orchestrator/audit/check.js";
import type { PartPlace } from "../../../../src/orchestrator/run/part-supervisor.js";
import { targetOf } from "../../../helpers/target.js";

afterEach(() => vi.restoreAllMocks());

/** Each attempt of a check while our own control group is throttled for that long. */
async function auditOf(
  status: CheckOutcome["status"],
  throttled_ms: (attempt: number) => number,
  runtime = "local",
) {
  let throttled_us = 0;
  vi.spyOn(AuditedSystem, "use").mockImplementation((_settings, _place, work) =>
    work({} as AuditedSystem),
  );
  let attempts = 0;
  const check: Check = {
    id: "window-edge",
    title: "",
    promise: "",
    matters: "",
    async run() {
      throttled_us += 1000 * throttled_ms(++attempts);
      return { status };
    },
  };
  const { findings } = await auditTarget(
    { target: targetOf("ioredis@valkey"), caps: {}, modules: {}, serviceEnv: undefined },
    { runtime: { id: runtime } } as PartPlace,
    [check],
    { check: () => {}, finding: () => {} },
    () => ({ periods: 100, throttled_periods: 50, throttled_us }),
  );
  return { finding: findings[0], attempts };
}

test("what is broken while our own control group was throttled is tried again, and never blamed [R-throttled-2]", async () => {
  const once = await auditOf("broken", (attempt) => (attempt === 1 ? 500 : 0));
  expect([once.finding?.status, once.attempts]).toEqual(["broken", 2]);
  const always = await auditOf("broken", () => 500);
  expect(always.finding).toMatchObject({
    status: "failed",
    reason: expect.stringContaining("throttled us"),
  });
  expect(always.attempts).toBe(3);
});

test("what holds all the same holds, and containers are not in our control group", async () => {
  expect(await auditOf("holds", () => 500)).toMatchObject({
    finding: { status: "holds" },
    attempts: 1,
  });
  expect(await auditOf("broken", () => 500, "docker")).toMatchObject({
    finding: { status: "broken" },
    attempts: 1,
  });
});
