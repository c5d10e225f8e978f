import { expect, onTestFinished, test } from "vitest";
import { expectConsistent } from "../../helpers/expectations.js";
import { measured } from "../../helpers/programs.js";
import { TestServer } from "../../helpers/server.js";
import { StubServer } from "../../helpers/stub-server.js";

test("a server that answers after 470 µs has a p50 that a plain client finds too: not 0, not whole milliseconds", async () => {
  const stub = await StubServer.start({ delay_us: 470 });
  await stub.plainLatencies(200);
  const plain = await stub.plainLatencies(1_000);
  const result = await measured({
    TARGET_URL: stub.url,
    DURATION: "2",
    WARMUP: "0.5",
    CONNECTIONS: "1",
  });
  expectConsistent(result);
  const { min = 0 } = result.latency ?? {};
  const { p50, average } = { p50: result.latency?.p50 ?? 0, average: result.latency?.average ?? 0 };
  expect(min).toBeGreaterThanOrEqual(0.47);
  expect(p50 * 1000).toBeCloseTo(Math.round(p50 * 1000), 6);
  const expected = plain[500] ?? 0;
  expect(p50 / expected, `p50 ${p50} ms, plain ${expected} ms`).toBeGreaterThan(0.6);
  expect(p50 / expected, `p50 ${p50} ms, plain ${expected} ms`).toBeLessThan(1.6);
  // One connection, always busy: throughput is the inverse of the mean latency.
  expect((result.requests.average * average) / 1000).toBeGreaterThan(0.9);
  expect((result.requests.average * average) / 1000).toBeLessThan(1.05);
  expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
});

test("a server of ours that is never idle: its loop was used up, and its CPU is divided by what it answered", async () => {
  const server = await TestServer.start({ MODE: "none", COMPUTATION_COMPLEXITY: "40" });
  onTestFinished(async () => void (await server.stop()));
  // Readings wait behind the requests under way. Four of them take less than the half second after
  // which a reading belongs to no interval, on a slow machine too.
  const env = {
    TARGET_URL: server.url,
    REQUEST_TYPE: "heavy",
    DURATION: "2.2",
    WARMUP: "0.5",
    CONNECTIONS: "4",
  };
  const {
    resources,
    consumers: [told],
    requests,
    samples,
  } = await measured(env);
  expect(samples[0]?.server_event_loop_utilisation).toBeGreaterThan(0.9);
  const answered = (told?.at_end.requests ?? 0) - (told?.at_window_open.requests ?? 0);
  // What was under way when the window closed cost the server as much as the rest.
  expect(answered).toBeGreaterThan(requests.total);
  for (const { cpu_us, cpu_us_per_request } of Object.values(resources))
    expect(cpu_us_per_request).toBeCloseTo(cpu_us / answered, 1);
});
