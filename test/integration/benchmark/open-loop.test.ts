import { beforeAll, expect, test } from "vitest";
import { expectScheduleReconciled } from "../../helpers/expectations.js";
import { build, measured } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

beforeAll(build);

test("in an open loop a server that dies in the middle leaves a result that says so", async () => {
  const stub = await StubServer.start();
  const env = { TARGET_URL: stub.url, RATE: "200", DURATION: "3", CONNECTIONS: "20", TIMEOUT: "1" };
  const running = measured(env);
  await expect.poll(async () => (await stub.counts()).asked, { timeout: 60_000 }).toBeGreaterThan(100);
  await stub.kill();
  const result = await running;
  expectScheduleReconciled(result);
  expect(result.schedule?.offered).toBe(600);
  expect(result.schedule?.unsent).toBeGreaterThan(50);
  expect(result.generators[0]?.histograms.censored.count).toBeGreaterThanOrEqual(
    result.schedule?.unsent ?? 0,
  );
  expect(result.outcome).toBe("failed");
});
