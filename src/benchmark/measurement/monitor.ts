import type { Usage } from "../../contract/server-api.js";
import { monotonicMs } from "./clock.js";
import { cpuUs, readUsage } from "./server-readings.js";

const PERIOD_MS = 1000;

export interface ServerSample {
  at_ms: number;
  cpu_percent: number;
  event_loop_utilisation: number;
  heap_used_bytes: number;
  resident_bytes: number;
}

/** The difference between two readings of the server's cumulative counters. */
function difference(before: Reading, after: Reading): ServerSample {
  // By the server's own clock: ours has the time of the answer, which is later on a busy machine.
  const elapsed_us = (after.usage.uptime_s - before.usage.uptime_s) * 1e6;
  const active = after.usage.event_loop_active_ms - before.usage.event_loop_active_ms;
  const idle = after.usage.event_loop_idle_ms - before.usage.event_loop_idle_ms;
  return {
    at_ms: after.at_ms,
    cpu_percent: elapsed_us > 0 ? (100 * (cpuUs(after.usage) - cpuUs(before.usage))) / elapsed_us : 0,
    event_loop_utilisation: active + idle > 0 ? Math.min(1, active / (active + idle)) : 0,
    heap_used_bytes: after.usage.heap_used_bytes,
    resident_bytes: after.usage.resident_bytes,
  };
}

interface Reading {
  at_ms: number;
  usage: Usage;
}

/** Reads the server's counters once a second while a window is open. A failed reading is recorded in `failures`. */
export class ServerMonitor {
  readonly samples: ServerSample[] = [];
  readonly failures: string[] = [];
  readonly #base: string;
  #last: Reading | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(base: string) {
    this.#base = base;
  }

  /** The last reading, unless it is too old for the second that ends now. */
  recent(now_ms: number): ServerSample | undefined {
    const last = this.samples.at(-1);
    return last && now_ms - last.at_ms < 1.5 * PERIOD_MS ? last : undefined;
  }

  /** Call this right before the window opens: this reading is the start of the first second. */
  async start(): Promise<void> {
    await this.#read();
    this.#timer = setInterval(() => {
      this.#reading = this.#read();
    }, PERIOD_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      const usage = await readUsage(this.#base);
      const reading = { at_ms: monotonicMs(), usage };
      if (this.#last) this.samples.push(difference(this.#last, reading));
      this.#last = reading;
    } catch (error) {
      this.failures.push(String(error));
    }
  }
}
