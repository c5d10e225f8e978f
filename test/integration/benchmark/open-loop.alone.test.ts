import { expect, test } from "vitest";
import { expectScheduleReconciled } from "../../helpers/expectations.js";
import { measured } from "../../helpers/programs.js";
import type { StubBehaviour } from "../../helpers/stub-program.js";
import { StubServer } from "../../helpers/stub-server.js";

async function openLoop(behaviour: StubBehaviour, env: Readonly<Record<string, string>>) {
  const stub = await StubServer.start(behaviour);
  const result = await measured({
    TARGET_URL: stub.url,
    WARMUP: "0.5",
    CONNECTIONS: "100",
    ...env,
  });
  expectScheduleReconciled(result);
  return { stub, result };
}

test.each(["constant", "poisson"])(
  "a server that answers after 100 ms (M3) has a p50 of 100 ms, and as many samples as responses, with %s arrivals",
  async (arrivals) => {
    const env = { RATE: "200", ARRIVALS: arrivals, DURATION: "1" };
    const { stub, result } = await openLoop({ delay_ms: 100 }, env);
    const { latency, service_time, schedule, counts, requests } = result;
    expect(latency?.p50).toBeGreaterThan(95);
    expect(latency?.p50).toBeLessThan(105);
    expect(service_time?.p50).toBeGreaterThan(95);
    expect(service_time?.p50).toBeLessThanOrEqual(latency?.p50 ?? 0);
    // Those of the last tenth of a second were answered after the window.
    expect(counts.followed).toBe(counts.after_window.allowed);
    expect(requests.total).toBe((schedule?.sent ?? 0) - counts.followed);
    // Half a second of warm-up came before; nothing was answered that was not sent, or made up
    // afterwards.
    const { asked } = await stub.counts();
    if (arrivals === "constant") {
      expect(schedule?.offered).toBe(200);
      expect(asked).toBe(200 + 100);
    } else {
      // Five standard deviations: a false alarm in two million runs.
      expect(Math.abs((schedule?.offered ?? 0) - 200)).toBeLessThan(5 * Math.sqrt(200));
      expect(asked).toBeGreaterThan(schedule?.sent ?? 0);
    }
    expect(result.request.load).toMatchObject({ rate_per_second: 200, arrivals });
  },
);

test.each([
  ["with connections enough", "100"],
  ["with connections so few that sends must wait", "10"],
])(
  "a server that stalls for 100 ms each second, at 500/s (M3) has a p99 of 80 to 110 ms, %s",
  async (_which, connections) => {
    const { result } = await openLoop(
      { stall_ms: 100 },
      { RATE: "500", DURATION: "1", CONNECTIONS: connections },
    );
    const { latency, service_time, schedule } = result;
    expect(latency?.p99).toBeGreaterThan(80);
    expect(latency?.p99).toBeLessThan(110);
    expect(schedule?.offered).toBe(500);
    if (connections === "10") {
      // Those who measure from the send see ten slow requests a second, of five hundred.
      expect(schedule?.blocked).toBeGreaterThan(20);
      expect(service_time?.p95 ?? 0).toBeLessThan((latency?.p95 ?? 0) / 2);
      // Waiting for a connection is the server's doing, not lateness of the generator.
      expect(schedule?.lateness_ms?.p99).toBeLessThan(60);
      expect(result.outcome).toBe("served");
    }
  },
);

test("a server with half the capacity that is offered is called saturated (M5)", async () => {
  const env = { RATE: "1000", DURATION: "1", CONNECTIONS: "40", WARMUP: "0" };
  const { result } = await openLoop({ slots: 10, slot_ms: 20 }, env);
  const { schedule, counts } = result;
  expect(result.verdict.reasons).toContainEqual(
    expect.objectContaining({ rule: "M5", severity: "invalid" }),
  );
  expect(result.outcome).toBe("overloaded");
  // Half of the requests were never sent: how long they would have taken is not known.
  expect(result.latency?.bounds?.p75?.high).toBeNull();
  expect(schedule?.offered).toBe(1000);
  // 500/s for a second, and those under way at the end.
  expect(counts.sent).toBeGreaterThan(450);
  expect(counts.sent).toBeLessThan(575);
  expect(schedule?.unsent).toBe(1000 - counts.sent);
});

test("a send that waited longer than the time-out for a connection is dropped, and counted", async () => {
  const env = { RATE: "400", DURATION: "2", CONNECTIONS: "4", WARMUP: "0", TIMEOUT: "1" };
  const { result } = await openLoop({ slots: 4, slot_ms: 40 }, env);
  // 100/s are served, so a send that is due after a third of a second waits for more than one.
  expect(result.schedule?.dropped).toBeGreaterThan(100);
  expect(result.schedule?.blocked).toBeGreaterThan(670);
  // The oldest of those that were dropped, sent or not.
  expect(result.latency?.bounds?.max?.low).toBeLessThan(1_500);
});

test("several workers keep one schedule together", async () => {
  const env = { RATE: "300", DURATION: "1", CONNECTIONS: "7", WORKERS: "3", TRAFFIC: "variable" };
  const { stub, result } = await openLoop({ limit: 3 }, env);
  const [part] = result.generators;
  expect(part?.workers.map(({ connections }) => connections)).toEqual([3, 2, 2]);
  expect(part?.workers.map(({ counts }) => counts.sent)).toEqual([100, 100, 100]);
  expect(result.schedule?.sent).toBe(300);
  expect((await stub.counts()).asked).toBe(300 + 150);
});

test("REQUESTS are so many sends of the schedule", async () => {
  const { result } = await openLoop({}, { RATE: "500", REQUESTS: "400", WORKERS: "2" });
  const { sent, allowed, after_window } = result.counts;
  expect([sent, allowed + after_window.allowed]).toEqual([400, 400]);
  expect(result.duration).toBeCloseTo(0.8, 2);
});

test("failures of every kind cost one request each, and the connection goes on", async () => {
  const { stub, result } = await openLoop(
    // Beside answers that take 20 ms, late sends of a busy machine do not hide what the server did.
    { fail: 7, cut: 11, hang: 100, delay_us: 20_000 },
    { RATE: "400", DURATION: "2", WARMUP: "0", CONNECTIONS: "30", TIMEOUT: "1" },
  );
  const { counts } = result;
  const done = await stub.counts();
  expect(counts.sent).toBe(800);
  expect(counts.allowed + counts.after_window.allowed).toBe(done.answered);
  expect(counts.failed_answers + counts.after_window.failed_answers).toBe(done.failed);
  expect(result.errors).toBe(done.cut);
  expect(result.timeouts).toBe(done.hung);
  expect(result.timeouts).toBeGreaterThan(5);
  expect(counts.by_code["503"]).toBe(counts.failed_answers);
  expect(result.outcome).toBe("failed");
});
