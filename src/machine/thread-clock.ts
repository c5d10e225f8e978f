import { readFileSync } from "node:fs";

/** Nanoseconds on a CPU, nanoseconds of run delay, timeslices: of the thread that reads it. */
const SCHEDSTAT = "/proc/thread-self/schedstat";

const sleeper = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const SHORT_SLEEP_MS = 0.05;

/** CPU time of the thread that calls it, in microseconds; undefined where the system does not count it. */
export function threadCpuUs(): number | undefined {
  // The kernel updates the counter of a running thread only every few milliseconds, and whenever it sleeps.
  Atomics.wait(sleeper, 0, 0, SHORT_SLEEP_MS);
  try {
    const [cpu_ns] = readFileSync(SCHEDSTAT, "utf8").split(" ");
    return Number(cpu_ns) > 0 ? Number(cpu_ns) / 1000 : undefined;
  } catch {
    return undefined;
  }
}

/** The clock that times a thread's work on this system. */
export const threadClock = (): "cpu time" | "wall time" =>
  threadCpuUs() === undefined ? "wall time" : "cpu time";

/** Microseconds of that clock, of the thread that calls it. */
export const threadTimeUs = (): number => threadCpuUs() ?? performance.now() * 1000;
