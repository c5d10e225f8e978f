import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EncodedHistogram } from "../../../src/contract/latency-figures.js";
import { decodeHistogram } from "../../../src/judge/histogram.js";
import { expectConsistent, expectScheduleReconciled } from "../../helpers/expectations.js";
import { measured } from "../../helpers/programs.js";

/**
 * A server in which every 100th request waits for so long; without a time for ever. The others are
 * answered at once.
 */
async function startServer(stall_ms: number | undefined) {
  const asked = { all: 0, stalled: 0 };
  const server = createServer(({ url = "" }, response) => {
    if (!url.startsWith("/light")) return void response.writeHead(404).end();
    if (++asked.all % 100 > 0) return void response.end("{}");
    asked.stalled++;
    if (stall_ms !== undefined) setTimeout(() => response.end("{}"), stall_ms);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const WINDOW_S = 1;
const TIMEOUT_S = 2;

/** The value at this rank, from 1, in milliseconds. */
function atRank(encoded: EncodedHistogram, rank: number): number {
  const histogram = decodeHistogram(encoded);
  return histogram.getValueAtPercentile((100 * (rank - 0.5)) / histogram.totalCount) / 1000;
}

describe.each([
  ["closed loop", { CONNECTIONS: "100" }],
  ["open loop", { RATE: "400", CONNECTIONS: "100" }],
])("a hundredth of the requests of a %s", (loop, load) => {
  const measure = async (stall_ms: number | undefined) => {
    const { asked, url } = await startServer(stall_ms);
    const result = await measured({
      TARGET_URL: url,
      DURATION: String(WINDOW_S),
      TIMEOUT: String(TIMEOUT_S),
      WORKERS: "2",
      WARMUP: "0",
      ...load,
    });
    if (loop === "open loop") expectScheduleReconciled(result);
    else expectConsistent(result);
    const [part] = result.generators;
    if (!part) throw new Error("a generator");
    return { asked, result, part };
  };

  test("that stall past the end of the window are followed, and are in its tail", async () => {
    const { asked, result, part } = await measure(1_000 * WINDOW_S + 300);
    const { counts, latency } = result;
    expect(asked.stalled).toBeGreaterThan(3);
    // None was answered in the window; the fast ones in flight at its close are the others.
    expect(counts.after_window.allowed).toBeGreaterThanOrEqual(asked.stalled);
    expect(counts.sent).toBe(asked.all);
    // As many latencies as requests stalled are longer than the window.
    const { allowed } = part.histograms;
    expect(atRank(allowed, counts.sent - asked.stalled)).toBeLessThan(1_000 * WINDOW_S);
    expect(atRank(allowed, counts.sent - asked.stalled + 1)).toBeGreaterThan(1_000 * WINDOW_S);
    expect(latency?.max).toBeGreaterThanOrEqual(1_000 * WINDOW_S + 300);
    expect(latency).not.toHaveProperty("bounds");
  });

  test("that are never answered are censored at their age, also those in flight at the end", async () => {
    const { asked, result, part } = await measure(undefined);
    const { counts, latency } = result;
    expect(asked.stalled).toBeGreaterThan(3);
    expect(counts).toMatchObject({ timed_out: 0, after_window: { timed_out: asked.stalled } });
    expect(result.timeouts).toBe(asked.stalled);
    const [censored, service] = [part.histograms.censored, part.service_histograms?.censored];
    expect(censored.count).toBe(asked.stalled);
    for (const histogram of service ? [censored, service] : [censored]) {
      // 0.1 %: the accuracy of a histogram.
      expect(decodeHistogram(histogram).minNonZeroValue).toBeGreaterThan(999_000 * TIMEOUT_S);
    }
    expect(latency?.max).toBeNull();
    expect(latency?.bounds?.max).toEqual({ low: expect.any(Number), high: null });
    expect(result.totalErrors).toBe(asked.stalled);
  });
});
