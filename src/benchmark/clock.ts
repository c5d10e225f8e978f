import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

/** Milliseconds of the machine's monotonic clock: the same for all threads of all processes of this host. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const origin_ms = monotonicMs() - performance.now();

/** The same clock for a tenth of the cost, for what is read several times a request; off by less than 10 µs. */
export const steadyMs = (): number => origin_ms + performance.now();

/**
 * Milliseconds that the calling thread was ready to run and had no CPU, since it started (Linux: the run delay of
 * /proc/thread-self/schedstat). To the event loop this time looks idle, so its utilisation cannot show starvation.
 */
export function cpuWaitMs(): number | undefined {
  try {
    const [, waited_ns] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
    return waited_ns === undefined ? undefined : Number(waited_ns) / 1e6;
  } catch {
    return undefined;
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
