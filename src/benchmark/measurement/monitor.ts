import type { Usage } from "../../contract/server-api.js";
import { sum } from "../../kit/numbers.js";
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

/** The counters that a process had at its start, for one that was started again after a reading. */
const NOTHING = {
  uptime_s: 0,
  cpu_user_us: 0,
  cpu_system_us: 0,
  event_loop_active_ms: 0,
  event_loop_idle_ms: 0,
} as const;

/**
 * Whether a process was started again between two readings, so that a counter has fallen. The
 * uptime alone does not tell, because the new process may be older where readings failed.
 */
const hasRestarted = ({ usage: before }: Reading, { usage: after }: Reading): boolean =>
  after.uptime_s < before.uptime_s ||
  cpuUs(after) < cpuUs(before) ||
  after.event_loop_active_ms < before.event_loop_active_ms ||
  after.event_loop_idle_ms < before.event_loop_idle_ms;

/** @param loaded_s how long the server had the load; the time between the readings by default */
function difference(earlier: Reading, after: Reading, loaded_s?: number): ServerSample {
  const before = { usage: hasRestarted(earlier, after) ? NOTHING : earlier.usage };
  // The moment is that of the server's clock. Our clock has the time of the answer, which is later
  // on a busy machine.
  const elapsed_us = (loaded_s ?? after.usage.uptime_s - before.usage.uptime_s) * 1e6;
  const active = after.usage.event_loop_active_ms - before.usage.event_loop_active_ms;
  const idle =
    loaded_s === undefined
      ? after.usage.event_loop_idle_ms - before.usage.event_loop_idle_ms
      : Math.max(0, 1000 * loaded_s - active);

  return {
    at_ms: after.at_ms,
    cpu_percent:
      elapsed_us > 0 ? (100 * (cpuUs(after.usage) - cpuUs(before.usage))) / elapsed_us : 0,
    event_loop_utilisation: active + idle > 0 ? Math.min(1, active / (active + idle)) : 0,
    heap_used_bytes: after.usage.heap_used_bytes,
    resident_bytes: after.usage.resident_bytes,
  };
}

type Reading = { at_ms: number; usage: Usage };

/** Adds up the samples of all servers. The event loop is that of the busiest server. */
const together = (at_ms: number, samples: readonly ServerSample[]): ServerSample => ({
  at_ms,
  cpu_percent: sum(samples.map(({ cpu_percent }) => cpu_percent)),
  event_loop_utilisation: Math.max(
    ...samples.map(({ event_loop_utilisation }) => event_loop_utilisation),
  ),
  heap_used_bytes: sum(samples.map(({ heap_used_bytes }) => heap_used_bytes)),
  resident_bytes: sum(samples.map(({ resident_bytes }) => resident_bytes)),
});

/**
 * Reads the counters of all servers once a second while a window is open. A failed reading is
 * recorded in `failures`.
 */
export class ServerMonitor {
  readonly samples: ServerSample[] = [];
  /** One entry for each server, in order. */
  readonly samplesByServer: ServerSample[][];
  readonly failures: string[] = [];
  readonly #bases: readonly string[];
  #last: readonly Reading[] | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(bases: readonly string[]) {
    this.#bases = bases;
    this.samplesByServer = bases.map(() => []);
  }

  /** The last reading, unless it is too old for the second that ends now. */
  recent(now_ms: number): ServerSample | undefined {
    const last = this.samples.at(-1);
    return last && now_ms - last.at_ms < 1.5 * PERIOD_MS ? last : undefined;
  }

  /**
   * Must be called right before the window opens, because this reading is the start of the first
   * second.
   */
  async start(): Promise<void> {
    await this.read();
    this.#timer = setInterval(() => {
      this.#reading = this.read();
    }, PERIOD_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  /** Adds a sample. @param loaded_s how long each server had the load since the last reading */
  async read(loaded_s?: number): Promise<void> {
    try {
      const readings = await Promise.all(
        this.#bases.map(async (base) => ({ usage: await readUsage(base), at_ms: monotonicMs() })),
      );
      const samples = readings.flatMap((reading, server) => {
        const earlier = this.#last?.[server];
        return earlier ? difference(earlier, reading, loaded_s) : [];
      });
      this.#last = readings;
      if (samples.length === 0) return;

      for (const [server, sample] of samples.entries()) this.samplesByServer[server]?.push(sample);
      this.samples.push(together(monotonicMs(), samples));
    } catch (error) {
      this.failures.push(String(error));
    }
  }
}
