import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { monotonicMs } from "../../../../src/benchmark/measurement/clock.js";
import { ServerMonitor } from "../../../../src/benchmark/measurement/monitor.js";
import { readUsage } from "../../../../src/benchmark/measurement/server-readings.js";
import { serverOf, validEvidence } from "../../../helpers/evidence.js";

/** Answers with the counters of a server that is idle until it is told to be busy, and then busy all the time. */
async function counters(): Promise<{ url: string; beBusy(): void; restart(uptime_s: number): void }> {
  let began_ms = monotonicMs();
  let busy_ms = Number.POSITIVE_INFINITY;
  const server = createServer((_request, response) => {
    const now_ms = monotonicMs();
    const active = Math.max(0, now_ms - busy_ms);
    const usage = {
      ...serverOf(validEvidence()).at_start,
      uptime_s: (now_ms - began_ms) / 1000,
      event_loop_active_ms: active,
      event_loop_idle_ms: now_ms - began_ms - active,
      cpu_user_us: Math.round(1200 * active),
      cpu_system_us: 0,
    };
    response.end(JSON.stringify(usage));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    beBusy: () => {
      busy_ms = monotonicMs();
    },
    restart: (uptime_s) => {
      began_ms = monotonicMs() - 1000 * uptime_s;
      busy_ms = Number.POSITIVE_INFINITY;
    },
  };
}

test("the first second of a busy server is fully busy: the pause before it does not count", async () => {
  const { url, beBusy } = await counters();
  await readUsage(url);
  await delay(400);
  const monitor = new ServerMonitor([url]);
  beBusy();
  await monitor.start();
  while (monitor.samples.length === 0) await delay(50);
  await monitor.stop();
  const [first] = monitor.samples;
  expect(first?.event_loop_utilisation).toBeGreaterThan(0.99);
  expect(first?.cpu_percent).toBeCloseTo(120, 3);
  expect(monitor.failures).toEqual([]);
});

test("several servers are summed each second; the event loop is that of the busiest", async () => {
  const [idle, busy] = [await counters(), await counters()];
  busy.beBusy();
  const monitor = new ServerMonitor([idle.url, busy.url]);
  await monitor.start();
  while (monitor.samples.length === 0) await delay(50);
  await monitor.stop();
  const [first] = monitor.samples;
  expect(first?.event_loop_utilisation).toBeGreaterThan(0.99);
  expect(first?.cpu_percent).toBeCloseTo(120, 3);
  const { heap_used_bytes } = serverOf(validEvidence()).at_start;
  expect(first?.heap_used_bytes).toBe(2 * heap_used_bytes);
  expect(monitor.samplesByServer.map(([sample]) => Math.round(sample?.cpu_percent ?? -1))).toEqual([0, 120]);
});

test("a server that was started again has no negative CPU time, also where it is older than at the last reading", async () => {
  const { url, beBusy, restart } = await counters();
  beBusy();
  await delay(50);
  const monitor = new ServerMonitor([url]);
  await monitor.start();
  restart(10);
  while (monitor.samples.length === 0) await delay(50);
  await monitor.stop();
  expect(monitor.samples[0]?.cpu_percent).toBe(0);
});
