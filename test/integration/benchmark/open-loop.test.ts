import { expect, test } from "vitest";
import { expectScheduleReconciled } from "../../helpers/expectations.js";
import { measured } from "../../helpers/programs.js";
import type { StubBehaviour } from "../../helpers/stub-program.js";
import { StubServer } from "../../helpers/stub-server.js";

async function openLoop(behaviour: StubBehaviour, env: Readonly<Record<string, string>>) {
  const stub = await StubServer.start(behaviour);
  const result = await measured({ TARGET_URL: stub.url, WARMUP: "0.5", CONNECTIONS: "100", ...env });
  expectScheduleReconciled(result);
  return { stub, result };
}

test("a send that waited longer than the time-out for a connection is dropped, and counted", async () => {
  const env = { RATE: "400", DURATION: "3", CONNECTIONS: "4", WARMUP: "0", TIMEOUT: "1" };
  const { result } = await openLoop({ slots: 4, slot_ms: 40 }, env);
  // 100/s are served: of the sends of the first two thirds of a second, most wait for more than one.
  expect(result.schedule?.dropped).toBeGreaterThan(100);
  expect(result.schedule?.blocked).toBeGreaterThan(1_000);
  // The oldest of those that were dropped, sent or not.
  expect(result.latency?.bounds?.max?.low).toBeLessThan(1_500);
});

test("several workers keep one schedule together", async () => {
  const env = { RATE: "300", DURATION: "2", CONNECTIONS: "7", WORKERS: "3", TRAFFIC: "variable" };
  const { stub, result } = await openLoop({ limit: 3 }, env);
  const [part] = result.generators;
  expect(part?.workers.map(({ connections }) => connections)).toEqual([3, 2, 2]);
  expect(part?.workers.map(({ counts }) => counts.sent)).toEqual([200, 200, 200]);
  expect(result.schedule?.sent).toBe(600);
  expect((await stub.counts()).asked).toBe(600 + 150);
});

test("REQUESTS are so many sends of the schedule", async () => {
  const { result } = await openLoop({}, { RATE: "500", REQUESTS: "400", WORKERS: "2" });
  const { sent, allowed, after_window } = result.counts;
  expect([sent, allowed + after_window.allowed]).toEqual([400, 400]);
  expect(result.duration).toBeCloseTo(0.8, 2);
});
