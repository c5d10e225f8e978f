import type { RoleResources } from "../contract/result.js";
import type { PartCounters, RunningPart } from "../runtimes/types.js";

const PERIOD_MS = 1000;
const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

interface Reading extends PartCounters {
  at_ms: number;
}

/** What was throttled and sent from one reading to another, where the runtime tells. */
function grown(from: Reading, to: Reading): Pick<RoleResources, "throttling" | "network"> {
  // A cap whose first period has not passed yet has counted nothing.
  const before = from.throttling ?? { periods: 0, throttled_periods: 0, throttled_us: 0 };
  const after = to.throttling;
  return {
    ...(after
      ? {
          throttling: {
            periods: after.periods - before.periods,
            throttled_periods: after.throttled_periods - before.throttled_periods,
            throttled_us: after.throttled_us - before.throttled_us,
          },
        }
      : {}),
    ...(from.network && to.network
      ? {
          network: {
            received_bytes: to.network.received_bytes - from.network.received_bytes,
            sent_bytes: to.network.sent_bytes - from.network.sent_bytes,
          },
        }
      : {}),
  };
}

function sampleOf(first: Reading, before: Reading, reading: Reading): RoleResources["samples"][number] {
  const elapsed_us = Math.max(1, (reading.at_ms - before.at_ms) * 1000);
  const { throttling, network } = grown(before, reading);
  return {
    t_s: rounded((reading.at_ms - first.at_ms) / 1000, 3),
    cpu_percent: rounded((100 * Math.max(0, reading.cpu_us - before.cpu_us)) / elapsed_us, 1),
    resident_bytes: reading.resident_bytes,
    ...(throttling ? { throttled_periods: throttling.throttled_periods } : {}),
    ...network,
  };
}

/**
 * Follows the counters of parts through one window: at both ends, and once a second between them. The ends are read
 * at the drained moments that the generator announces.
 */
export class CounterWatch {
  readonly #parts: readonly RunningPart[];
  readonly #readings = new Map<string, Reading[]>();
  readonly #failures: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #under = Promise.resolve();

  constructor(parts: readonly RunningPart[]) {
    this.#parts = parts;
  }

  open(): void {
    this.#read();
    this.#timer = setInterval(() => this.#read(), PERIOD_MS);
  }

  close(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#read();
  }

  /** @returns failures of readings, one line each */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /**
   * What each role used in the window.
   * @param window_s length of the window, seconds @param answers answered requests in it
   */
  async resources(source: string, window_s: number, answers: number): Promise<Record<string, RoleResources>> {
    await this.#under;
    const roles = this.#parts.flatMap(({ role, caps }) => {
      const readings = this.#readings.get(role) ?? [];
      const first = readings[0];
      const last = readings.at(-1);
      if (!first || !last || first === last) return [];
      const cpu_us = Math.max(0, last.cpu_us - first.cpu_us);
      const resident = readings.map(({ resident_bytes }) => resident_bytes);
      const resources: RoleResources = {
        source,
        cpu_us,
        cpu_percent: rounded(cpu_us / window_s / 10_000, 2),
        ...(answers > 0 ? { cpu_us_per_request: rounded(cpu_us / answers, 2) } : {}),
        resident_bytes_mean: Math.round(resident.reduce((sum, bytes) => sum + bytes, 0) / resident.length),
        resident_bytes_max: Math.max(...resident),
        ...(caps ? { caps } : {}),
        ...grown(first, last),
        samples: readings
          .slice(1)
          .map((reading, index) => sampleOf(first, readings[index] ?? first, reading)),
      };
      return [[role, resources] as const];
    });
    return Object.fromEntries(roles);
  }

  #read(): void {
    this.#under = this.#under.then(async () => {
      await Promise.all(
        this.#parts.map(async (part) => {
          try {
            const counters = await part.counters();
            const readings = this.#readings.get(part.role) ?? [];
            readings.push({ ...counters, at_ms: performance.now() });
            this.#readings.set(part.role, readings);
          } catch (error) {
            this.#failures.push(`counters of ${part.role} could not be read: ${String(error)}`);
          }
        }),
      );
    });
  }
}
