import { expect, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { expectConsistent, expectScheduleReconciled } from "../../helpers/expectations.js";
import { generate } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

/** A generator that other programs hold up leaves a run without an outcome (M36). */
test.each<Record<string, string>>([
  { DURATION: "2", CONNECTIONS: "300" },
  { REQUESTS: "15000", CONNECTIONS: "300" },
  { DURATION: "2", CONNECTIONS: "20", RATE: "200" },
])("a server that dies in the middle leaves a result that says so, with %j", async (load) => {
  const stub = await StubServer.start({ delay_us: 200 });
  const running = generate({ TARGET_URL: stub.url, TIMEOUT: "1", ...load });
  await expect.poll(() => running.stderr(), { timeout: 240_000 }).toContain("measure");
  await expect
    .poll(async () => (await stub.counts()).asked, { timeout: 240_000 })
    .toBeGreaterThan(100);

  await stub.kill();
  const { code, stdout } = await running.ended;
  expect(code).toBe(0);

  const result: MeasuredResult = JSON.parse(stdout);
  if (load.RATE) expectScheduleReconciled(result);
  else expectConsistent(result);
  expect(result.errors).toBeGreaterThan(0);
  expect(result.outcome, JSON.stringify(result.verdict.reasons)).toBe("failed");
});
