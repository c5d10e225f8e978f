import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The milliseconds of the machine's monotonic clock, which all threads and processes of
 * this host share.
 */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export const wallOffsetMs = (): number => Date.now() - monotonicMs();

export const wallTime = (at_ms: number): Date => new Date(at_ms + wallOffsetMs());

/**
 * How many brackets are tried. The first ones are slow, because V8 has not compiled the code yet.
 */
const BRACKETS = 32;

/**
 * The milliseconds from `cheapMs` to `exactMs`. A thread may lose its CPU between readings,
 * so each cheap reading stands between two exact ones, and the tightest such bracket counts. The
 * result is wrong by at most half its width.
 */
export function tightestOriginMs(
  exactMs: () => number,
  cheapMs: () => number,
  brackets = BRACKETS,
): number {
  let origin_ms = 0;
  let tightest_ms = Number.POSITIVE_INFINITY;
  for (let bracket = 0; bracket < brackets; bracket++) {
    const before = exactMs();
    const cheap = cheapMs();
    const after = exactMs();
    if (after - before >= tightest_ms) continue;
    tightest_ms = after - before;
    origin_ms = (before + after) / 2 - cheap;
  }

  return origin_ms;
}

const origin_ms = tightestOriginMs(monotonicMs, () => performance.now());

/**
 * The milliseconds of `monotonicMs` at a tenth of the cost, for code that reads the clock
 * several times per request. It is off by less than 10 µs.
 */
export const cheapMonotonicMs = (): number => origin_ms + performance.now();

/** A reading that is later than every one before it. */
export function laterMonotonicMs(): number {
  const before_ms = cheapMonotonicMs();
  for (;;) {
    const now_ms = cheapMonotonicMs();
    if (now_ms > before_ms) return now_ms;
  }
}

/** A timer fires up to a millisecond late, so the last few milliseconds are slept exactly. */
const EXACT_MS = 3;
const neverWritten = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Resolves at `at_ms`, in monotonic milliseconds. It blocks the thread for the last milliseconds
 * before.
 */
export async function sleepUntil(at_ms: number): Promise<void> {
  let rest_ms = at_ms - cheapMonotonicMs();
  for (; rest_ms > EXACT_MS; rest_ms = at_ms - cheapMonotonicMs())
    await sleep(Math.max(1, Math.floor(rest_ms - EXACT_MS + 1)));
  for (; rest_ms > 0; rest_ms = at_ms - cheapMonotonicMs())
    Atomics.wait(neverWritten, 0, 0, rest_ms);
}

/** How long this thread has waited for a CPU. The event loop takes that time for idle. */
export function cpuWaitMs(): number | undefined {
  try {
    const [, waited_ns] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
    return waited_ns === undefined ? undefined : Number(waited_ns) / 1e6;
  } catch {
    return undefined;
  }
}
