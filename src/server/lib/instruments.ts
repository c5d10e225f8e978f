import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { GCProfiler, getHeapStatistics } from "node:v8";
import type { ProcessDiagnosis } from "../../contract/diagnosis.js";
import { definedOnly } from "../../kit/defined-only.js";

/**
 * How often the event loop should come to a timer. It is never early, so what goes beyond is delay.
 */
const RESOLUTION_MS = 1;
const RESOLUTION_US = 1_000 * RESOLUTION_MS;

/** The kinds of collections by V8's names. A name that is missing here is its own kind. */
const KINDS: Readonly<Record<string, string>> = {
  Scavenge: "minor",
  MinorMarkCompact: "minor",
  MinorMarkSweep: "minor",
  MarkSweepCompact: "major",
  IncrementalMarking: "incremental",
  ProcessWeakCallbacks: "weak callbacks",
};

type Collections = ReturnType<GCProfiler["stop"]>["statistics"];

function pausesOf(collections: Collections): ProcessDiagnosis["gc"] {
  const pausesByKind: ProcessDiagnosis["gc"] = {};
  for (const { gcType, cost: pause_us } of collections) {
    const kind = KINDS[gcType] ?? gcType;
    const { pauses, total_us, longest_us } = pausesByKind[kind] ?? {
      pauses: 0,
      total_us: 0,
      longest_us: 0,
    };
    pausesByKind[kind] = {
      pauses: pauses + 1,
      total_us: total_us + pause_us,
      longest_us: Math.max(longest_us, pause_us),
    };
  }
  return pausesByKind;
}

/**
 * Returns by how much the heap grew between collections, from one reading of its use to the next.
 */
function allocatedBytes(from: number, collections: Collections, to: number): number {
  let allocated = 0;
  let usedHeapBytes = from;
  for (const { beforeGC, afterGC } of collections) {
    allocated += Math.max(0, beforeGC.heapStatistics.usedHeapSize - usedHeapBytes);
    usedHeapBytes = afterGC.heapStatistics.usedHeapSize;
  }
  return allocated + Math.max(0, to - usedHeapBytes);
}

const field = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+)$`, "m").exec(text)?.[1] ?? Number.NaN);

type Switches = NonNullable<ProcessDiagnosis["context_switches"]>;
type Calls = NonNullable<ProcessDiagnosis["system_calls"]>;

/**
 * Returns the context switches of all threads. It is undefined where the system does not report
 * them.
 */
function contextSwitches(): Switches | undefined {
  try {
    const threads = readdirSync("/proc/self/task").map((thread) =>
      readFileSync(`/proc/self/task/${thread}/status`, "utf8"),
    );
    const total = (name: string) => threads.reduce((sum, text) => sum + field(text, name), 0);
    return countsIfKnown({
      voluntary: total("voluntary_ctxt_switches"),
      involuntary: total("nonvoluntary_ctxt_switches"),
    });
  } catch {
    return undefined;
  }
}

function systemCalls(): Calls | undefined {
  try {
    const text = readFileSync("/proc/self/io", "utf8");
    return countsIfKnown({ reads: field(text, "syscr"), writes: field(text, "syscw") });
  } catch {
    return undefined;
  }
}

const countsIfKnown = <Counts extends Record<string, number>>(
  counts: Counts,
): Counts | undefined => (Object.values(counts).every(Number.isFinite) ? counts : undefined);

function between<Counts extends Record<string, number>>(from: Counts, to: Counts): Counts {
  const growth = Object.entries(to).map(([name, value]) => [
    name,
    Math.max(0, value - (from[name] ?? 0)),
  ]);
  return Object.fromEntries(growth) as Counts;
}

const readCounts = () => ({
  at_ms: performance.now(),
  used_bytes: getHeapStatistics().used_heap_size,
  switches: contextSwitches(),
  calls: systemCalls(),
});

/**
 * Measures this process from inside. Instruments cost CPU time, so only a diagnosing run has them.
 */
export class Instruments {
  readonly #collections = new GCProfiler();
  readonly #loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #before = readCounts();

  constructor() {
    this.#collections.start();
    this.#loop.enable();
  }

  /** Returns what the instruments saw since the last call, or since they were made. */
  take(): Omit<ProcessDiagnosis, "requests"> {
    const now = readCounts();
    const lastCounts = this.#before;
    const { statistics } = this.#collections.stop();
    const delay = this.#loopDelay();
    this.#collections.start();
    this.#before = now;

    return definedOnly({
      seconds: (now.at_ms - lastCounts.at_ms) / 1_000,
      gc: pausesOf(statistics),
      loop_delay_us: delay,
      allocated_bytes: allocatedBytes(lastCounts.used_bytes, statistics, now.used_bytes),
      context_switches:
        lastCounts.switches && now.switches
          ? between(lastCounts.switches, now.switches)
          : undefined,
      system_calls:
        lastCounts.calls && now.calls ? between(lastCounts.calls, now.calls) : undefined,
    });
  }

  #loopDelay(): ProcessDiagnosis["loop_delay_us"] {
    const loop = this.#loop;
    if (loop.count === 0) return undefined;

    const late_us = (ns: number): number => Math.max(0, Math.round(ns / 1_000) - RESOLUTION_US);
    const delay = {
      mean: late_us(loop.mean),
      p50: late_us(loop.percentile(50)),
      p90: late_us(loop.percentile(90)),
      p99: late_us(loop.percentile(99)),
      max: late_us(loop.max),
    };
    loop.reset();
    return delay;
  }
}
