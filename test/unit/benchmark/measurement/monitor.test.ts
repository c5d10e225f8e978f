import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  AnswerLog,
  timelineOf,
  type WorkerTimeline,
} from "../../../../src/benchmark/measurement/answer-timeline.js";
import { monotonicMs, tightestOriginMs } from "../../../../src/benchmark/measurement/clock.js";
import { ServerMonitor } from "../../../../src/benchmark/measurement/monitor.js";
import {
  bytesBetween,
  readNetworkLinks,
} from "../../../../src/benchmark/measurement/network-links.js";
import { readUsage } from "../../../../src/benchmark/measurement/server-readings.js";
import { OpenLoopRecorder } from "../../../../src/benchmark/open-loop/open-loop-recorder.js";
import { serverOf, validEvidence } from "../../../helpers/evidence.js";

const opened = { opens_s: 1.5, opened_at: new Date("2026-01-01T00:00:00Z"), openLoop: true };

/** One worker's window that opened at 0 ms. */
function workerOf(length_ms: number, load: (recorder: OpenLoopRecorder) => void): WorkerTimeline {
  const recorder = new OpenLoopRecorder(String);
  recorder.open(0);
  load(recorder);
  const log = new AnswerLog(1);
  // Samples cut the answers wherever a second ends.
  log.add(0, recorder.sample(length_ms).latencies_us);
  log.add(0, recorder.sample(length_ms).latencies_us);
  return { ...recorder.figures(length_ms, true), latencies_us: log.of(0) };
}

describe("the timeline of a window", () => {
  test("counts each request when it ends, and those without an answer when they are given up", () => {
    const { timeline_slices, ...worker } = workerOf(400, (recorder) => {
      for (const due_ms of [10, 20, 30, 40, 50]) recorder.sent(due_ms, due_ms, false);
      recorder.answer("allowed", 200, 10, 10, 15);
      recorder.answer("failed", 500, 20, 20, 25);
      recorder.lost(30, 30, 120);
      recorder.answer("limited", 429, 40, 40, 240);
      recorder.timedOut(50, 50, 350);
      recorder.dropped(60, 360);
    });
    expect(timelineOf([{ ...worker, timeline_slices }], opened)).toMatchObject({
      opens_s: 1.5,
      allowed: [1, 0, 0, 0],
      limited: [0, 0, 1, 0],
      failed: [1, 1, 0, 0],
      timed_out: [0, 0, 0, 2],
      p50_us: [5_000, null, 200_000, null].map((us) => us && expect.closeTo(us, -3)),
      backlog: [4, 3, 2, 0],
    });
  });

  test("has what is due and was never sent in its backlog, and what is in flight when it closes", () => {
    const worker = workerOf(300, (recorder) => {
      recorder.sent(110, 110, false);
      recorder.unsent(150, 300);
      recorder.unsent(250, 300);
    });
    expect(timelineOf([worker], opened).backlog).toEqual([0, 2, 3]);
  });

  test("merges the latencies of all workers exactly, slice by slice", () => {
    const latencies: number[][] = [];
    let state = 1;
    const next = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const load = (recorder: OpenLoopRecorder) => {
      for (let at_ms = 0; at_ms < 200; at_ms += 0.5) {
        const us = 100 + next(1_900);
        recorder.sent(at_ms - us / 1000, at_ms - us / 1000, false);
        recorder.answer("allowed", 200, at_ms - us / 1000, at_ms, at_ms);
        const slice = Math.floor(at_ms / 100);
        latencies[slice] = [...(latencies[slice] ?? []), us];
      }
    };
    const { p99_us } = timelineOf(
      [workerOf(200, load), workerOf(200, load), workerOf(200, () => {})],
      opened,
    );
    const exact = latencies.map(
      (values) => values.toSorted((a, b) => a - b)[Math.ceil(0.99 * values.length) - 1],
    );
    expect(p99_us).toEqual(exact);
  });

  test("has the p99 of the second that begins with a slice, and of three to ten seconds before it", () => {
    const worker = workerOf(12_000, (recorder) => {
      const slow_ms = new Map([
        [5, 20],
        [6, 20],
        [115, 40],
      ]);
      for (let slice = 0; slice < 120; slice++) {
        const at_ms = 100 * slice + 50;
        const latency_ms = slow_ms.get(slice) ?? 1;
        recorder.sent(at_ms - latency_ms, at_ms - latency_ms, false);
        recorder.answer("allowed", 200, at_ms - latency_ms, at_ms, at_ms);
      }
    });
    const { p99_second_us: second, p99_before_us: before } = timelineOf([worker], opened);
    const near = (ms: number) => expect.closeTo(1000 * ms, -2);
    expect([second[0], second[6], second[7]]).toEqual([near(20), near(20), near(1)]);
    expect([second[110], second[111]]).toEqual([near(40), null]);
    expect([before[29], before[30], before[105], before[106]]).toEqual([
      null,
      near(20),
      near(20),
      near(1),
    ]);
  });
});

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "links-"));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function addLink(
  name: string,
  speed: string | undefined,
  bytes: readonly [number, number],
  device = true,
) {
  const folder = join(root, name);
  mkdirSync(join(folder, "statistics"), { recursive: true });
  if (device) mkdirSync(join(folder, "device"), { recursive: true });
  if (speed !== undefined) writeFileSync(join(folder, "speed"), `${speed}\n`);
  writeFileSync(join(folder, "statistics/rx_bytes"), `${bytes[0]}\n`);
  writeFileSync(join(folder, "statistics/tx_bytes"), `${bytes[1]}\n`);
}

describe("links of the machine", () => {
  test("are those of devices that state their rate", async () => {
    addLink("eth1", "1000", [5, 7]);
    addLink("eth0", "25000", [1, 2]);
    addLink("virtual", "-1", [1, 2]);
    addLink("silent", undefined, [1, 2]);
    addLink("veth0", "10000", [1, 2], false);
    expect(await readNetworkLinks(root)).toEqual([
      { name: "eth0", bits_per_second: 25e9, received_bytes: 1, sent_bytes: 2 },
      { name: "eth1", bits_per_second: 1e9, received_bytes: 5, sent_bytes: 7 },
    ]);
  });

  test("carried the growth of their counters; a link that is new or was set up anew is left out", async () => {
    addLink("eth0", "1000", [100, 200]);
    addLink("eth1", "1000", [100, 200]);
    const linksBefore = await readNetworkLinks(root);
    addLink("eth0", "1000", [150, 260]);
    addLink("eth1", "1000", [3, 4]);
    addLink("eth2", "1000", [3, 4]);
    expect(bytesBetween(linksBefore, await readNetworkLinks(root))).toEqual([
      { name: "eth0", bits_per_second: 1e9, received_bytes: 50, sent_bytes: 60 },
    ]);
  });
});

/**
 * Clocks whose difference is 1000 ms, in a thread that stops for so long before and after each
 * cheap reading.
 */
function clocks(pauses_ms: readonly number[]) {
  let now_ms = 5_000;
  let pause = 0;
  let isOpen = false;
  return {
    exactMs() {
      if (isOpen) now_ms += pauses_ms[pause++] ?? 0;
      isOpen = !isOpen;
      return now_ms;
    },
    cheapMs() {
      now_ms += pauses_ms[pause++] ?? 0;
      return now_ms - 1_000;
    },
  };
}

/** Before and after each of three readings. */
const PAUSES_MS = [0.001, 10, 0.01, 0.01, 0.02, 0.02];

test.each([
  ["first", PAUSES_MS],
  ["last", PAUSES_MS.toReversed()],
])(
  "the origin of the cheap clock comes from the tightest bracket, when the thread lost its CPU in the %s one",
  (_which, pauses) => {
    const { exactMs, cheapMs } = clocks(pauses);
    // The middle of the wide bracket is 5 ms off.
    expect(tightestOriginMs(exactMs, cheapMs, pauses.length / 2)).toBeCloseTo(1_000, 6);
  },
);

/**
 * Answers with the counters of a server that is idle until it is told to be busy, and then busy all
 * the time.
 */
async function counters(): Promise<{
  url: string;
  beBusy(): void;
  restart(uptime_s: number): void;
}> {
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

/** @param begun what happens once it has begun */
async function firstSecond(monitor: ServerMonitor, begun = () => {}) {
  await monitor.start();
  begun();
  while (monitor.samples.length === 0) await delay(50);
  await monitor.stop();
  return monitor.samples[0];
}

test("the first second of a busy server is fully busy: the pause before it does not count", async () => {
  const { url, beBusy } = await counters();
  await readUsage(url);
  await delay(400);
  const monitor = new ServerMonitor([url]);
  beBusy();
  const first = await firstSecond(monitor);
  expect(first?.event_loop_utilisation).toBeGreaterThan(0.99);
  expect(first?.cpu_percent).toBeCloseTo(120, 3);
  expect(monitor.failures).toEqual([]);
});

test("several servers are summed each second; the event loop is that of the busiest", async () => {
  const [idle, busy] = [await counters(), await counters()];
  busy.beBusy();
  const monitor = new ServerMonitor([idle.url, busy.url]);
  const first = await firstSecond(monitor);
  expect(first?.event_loop_utilisation).toBeGreaterThan(0.99);
  expect(first?.cpu_percent).toBeCloseTo(120, 3);
  const { heap_used_bytes } = serverOf(validEvidence()).at_start;
  expect(first?.heap_used_bytes).toBe(2 * heap_used_bytes);
  expect(monitor.samplesByServer.map(([sample]) => Math.round(sample?.cpu_percent ?? -1))).toEqual([
    0, 120,
  ]);
});

test("a server that was started again has no negative CPU time, also where it is older than at the last reading", async () => {
  const { url, beBusy, restart } = await counters();
  beBusy();
  await delay(50);
  const first = await firstSecond(new ServerMonitor([url]), () => restart(10));
  expect(first?.cpu_percent).toBe(0);
});
