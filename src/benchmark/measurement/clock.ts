import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

/** Milliseconds of the machine's monotonic clock, which all threads and processes of this host share. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const origin_ms = monotonicMs() - performance.now();

/** The same clock at a tenth of the cost, for code that reads it several times per request; off by less than 10 µs. */
export const cheapMonotonicMs = (): number => origin_ms + performance.now();

/**
 * Milliseconds since its start that the calling thread was ready to run but had no CPU (Linux: the run delay of
 * /proc/thread-self/schedstat). The event loop takes this time for idle, so its utilisation cannot show starvation.
 */
export function cpuWaitMs(): number | undefined {
  try {
    const [, waited_ns] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
    return waited_ns === undefined ? undefined : Number(waited_ns) / 1e6;
  } catch {
    return undefined;
  }
}
