import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ClosedConnections, ClosedLoop } from "../../../src/benchmark/closed-loop.js";
import {
  ChannelConnections,
  type ChannelListener,
  ConnectionPool,
} from "../../../src/benchmark/drivers/connection-pool.js";
import type { WindowListener } from "../../../src/benchmark/load-loop.js";
import { cheapMonotonicMs } from "../../../src/benchmark/measurement/clock.js";
import type { ResponseRecorder } from "../../../src/benchmark/measurement/recorder.js";
import type { Extent } from "../../../src/contract/configuration.js";
import { decodeHistogram } from "../../../src/judge/histogram.js";

const listener: WindowListener = { opened() {}, sample() {}, closed() {} };
const WINDOW = { duration_s: 0.1 };
const plan = (extent: Extent, lead_in_ms = 0) => ({ extent, opens_ms: 0, lead_in_ms });
const TIMEOUT_S = 0.3;

/** What a request gets, and after how many milliseconds; nothing: no answer. */
type Reply = { end: "allowed" | "limited" | "failed" | "lost"; after_ms: number } | undefined;

/**
 * A closed loop over channels whose requests get what `reply` says.
 * @param reply for request number `request` of channel number `channel`, each from 0
 */
async function loopOver(channels: number, reply: (channel: number, request: number) => Reply) {
  const sent: number[] = Array.from({ length: channels }, () => 0);
  const openChannel = (index: number, events: ChannelListener) => {
    let current = 0;
    const end = ({ end }: NonNullable<Reply>, of: number) => {
      if (of !== current) return;
      if (end === "lost") events.lost();
      else events.answered(end, { allowed: 200, limited: 429, failed: 503 }[end]);
      setImmediate(events.ready);
    };
    setImmediate(events.ready);
    return {
      send() {
        const request = ++current;
        const answer = reply(index, sent[index] ?? 0);
        sent[index] = (sent[index] ?? 0) + 1;
        if (answer) setTimeout(() => end(answer, request), answer.after_ms);
      },
      abandon() {
        current++;
        setImmediate(events.ready);
      },
      close() {},
    };
  };
  const connections = new ChannelConnections({
    connections: channels,
    timeoutS: TIMEOUT_S,
    endpoint: "a stub",
    poolFor: (user) => new ConnectionPool(channels, openChannel, TIMEOUT_S, user),
  });
  onTestFinished(() => connections.stop());
  const loop = new ClosedLoop(connections, String);
  await loop.connected();
  return { loop, sent };
}

const total = (numbers: readonly number[]) => numbers.reduce((total, value) => total + value, 0);

const soon = { end: "allowed", after_ms: 1 } as const;

describe("requests in flight when the window of a closed loop closes", () => {
  test("are followed: each is counted by its end, and only its latency enters the figures", async () => {
    const slow = [
      soon,
      { end: "allowed", after_ms: 180 },
      { end: "limited", after_ms: 180 },
      { end: "failed", after_ms: 180 },
      { end: "lost", after_ms: 180 },
      undefined,
    ] as const;
    const { loop, sent } = await loopOver(slow.length, (channel) => slow[channel]);
    const { counts, histograms, slices } = await loop.measure(plan(WINDOW), listener);
    const { after_window, followed, cut } = counts;
    // The fast channel may have had one in flight, too.
    const fast = after_window.allowed - 1;
    expect([0, 1]).toContain(fast);
    const ends = {
      allowed: 1 + fast,
      limited: 1,
      failed_answers: 1,
      connection_errors: 1,
      timed_out: 1,
    };
    expect(after_window).toEqual(ends);
    expect({ followed, cut }).toEqual({ followed: 5 + fast, cut: 0 });
    expect(counts.sent).toBe(total(sent));
    expect(counts.sent).toBe(counts.allowed + followed);
    expect(counts.by_code).toEqual({ "200": counts.allowed });
    expect(total(slices.allowed)).toBe(counts.allowed);
    expect(total(slices.limited) + total(slices.failed)).toBe(0);
    expect(histograms.allowed.count).toBe(counts.allowed + 1 + fast);
    expect([histograms.limited.count, histograms.failed.count, histograms.censored.count]).toEqual([
      1, 1, 2,
    ]);
    // Longer than the window, in which it had no answer.
    expect(decodeHistogram(histograms.allowed).maxValue).toBeGreaterThan(100_000);
    // Its age from the send, when it was given up.
    expect(decodeHistogram(histograms.censored).maxValue).toBeGreaterThanOrEqual(299_000);
  });

  test("of a lead-in count in the window, whenever they end", async () => {
    // The first request of three channels ends in the window, after it, or never; then all are
    // fast.
    const first = [
      { end: "failed", after_ms: 60 },
      { end: "lost", after_ms: 180 },
      undefined,
      soon,
    ] as const;
    const { loop, sent } = await loopOver(4, (channel, request) =>
      request > 0 ? soon : first[channel],
    );
    const opens_ms = cheapMonotonicMs() + 40;
    const window = await loop.measure({ ...plan(WINDOW, 30), opens_ms }, listener);
    const { counts, histograms, lead_in_requests } = window;
    expect(lead_in_requests).toBeGreaterThan(0);
    expect(counts.sent).toBe(total(sent) - lead_in_requests);
    expect(counts.sent).toBe(counts.allowed + counts.failed_answers + counts.followed);
    const { allowed: _allowed, ...unsuccessful } = counts.after_window;
    expect(counts.failed_answers).toBe(1);
    expect(unsuccessful).toEqual({
      limited: 0,
      failed_answers: 0,
      connection_errors: 1,
      timed_out: 1,
    });
    expect(histograms.censored.count).toBe(2);
  });

  test("are none in a run by number of requests: it waits for all of them", async () => {
    const replies: Reply[] = [
      soon,
      soon,
      soon,
      undefined,
      soon,
      undefined,
      { end: "lost", after_ms: 1 },
    ];
    const { loop, sent } = await loopOver(3, () => (replies.length > 0 ? replies.shift() : soon));
    const { counts, histograms, slices } = await loop.measure(plan({ requests: 12 }), listener);
    const ends = { timed_out: 2, connection_errors: 1, allowed: 9 };
    expect(counts).toMatchObject({ sent: 12, followed: 0, cut: 0, ...ends });
    expect(total(sent)).toBe(12);
    expect(histograms.censored.count).toBe(3);
    expect(total(slices.failed)).toBe(3);
  });
});

/** Connections with one answer, and the time at which the gate was opened. */
class StubConnections implements ClosedConnections {
  opened_ms = 0;
  connected = async () => undefined;
  stop = async () => undefined;
  drained = async () => undefined;
  quotaDone = async () => undefined;
  shutGate = () => 1;
  changeRecorder = () => 0;
  openGate(recorder: ResponseRecorder): void {
    this.opened_ms = cheapMonotonicMs();
    recorder.answer("allowed", 200, 1, this.opened_ms);
  }
}

const silent: WindowListener = { opened() {}, sample() {}, closed() {} };

test("the window of a closed loop opens when all windows open, not when the command comes", async () => {
  const workers = [new StubConnections(), new StubConnections()];
  const commanded_ms = cheapMonotonicMs();
  const opens_ms = commanded_ms + 150;
  const windows = await Promise.all(
    workers.map(async (connections, index) => {
      await sleep(30 * index);
      return new ClosedLoop(connections, String).measure(
        { extent: { duration_s: 0.2 }, opens_ms, lead_in_ms: 0 },
        silent,
      );
    }),
  );
  // Slices count from the opening.
  expect(windows.map(({ slices }) => slices.allowed)).toEqual([
    [1, 0],
    [1, 0],
  ]);
  const opened = windows.map(({ opened_ms }) => opened_ms);
  expect(Math.min(...opened)).toBeGreaterThanOrEqual(opens_ms);
  workers.forEach((worker, index) => {
    expect(worker.opened_ms).toBeGreaterThanOrEqual(opened[index] ?? Number.NaN);
  });
});
