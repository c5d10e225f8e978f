import type { RoleResources } from "../../contract/role-resources.js";
import { definedOnly } from "../../kit/defined-only.js";
import { rounded, sum } from "../../kit/numbers.js";
import type { RunningPart } from "../../runtimes/runtime-types.js";
import { CounterWatch } from "./counter-watch.js";
import { GENERATOR } from "./layout.js";
import type { RunningRole } from "./part-supervisor.js";
import type { RawPrintedRun } from "./program-load.js";
import type { ProgramEnd } from "./run-program.js";

/** A program ends within a second or two: its counters are read often enough to know its rate. */
const PROGRAM_PERIOD_MS = 200;

/** A program that ends by itself: its rate between first and last reading stands for the whole. */
class EndingPart {
  readonly #readings: { at_ms: number; cpu_us: number; resident_bytes: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  watch(part: RunningPart): void {
    const read = async () => {
      const counters = await part.counters().catch(() => undefined);
      if (counters) this.#readings.push({ at_ms: performance.now(), ...counters });
    };
    void read();
    this.#timer = setInterval(read, PROGRAM_PERIOD_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  resources(source: string, loaded_s: number, operations: number): RoleResources | undefined {
    const first = this.#readings[0];
    const last = this.#readings.at(-1);
    if (!first || !last || last.at_ms <= first.at_ms) return undefined;
    const used_ms = Math.max(0, last.cpu_us - first.cpu_us) / 1000;
    const share = used_ms / (last.at_ms - first.at_ms);
    const cpu_us = Math.round(share * loaded_s * 1e6);
    const resident = this.#readings.map(({ resident_bytes }) => resident_bytes);
    return {
      kind: "generator",
      source: `${source}, while it ran`,
      cpu_us,
      cpu_percent: rounded(100 * share, 2),
      cpu_us_per_request: rounded(cpu_us / operations, 2),
      resident_bytes_mean: Math.round(sum(resident) / resident.length),
      resident_bytes_max: Math.max(...resident),
      samples: [],
    };
  }
}

/** What the roles used while a load program ran, and what could not be read. */
type ProgramUse = Pick<RawPrintedRun, "resources" | "host_load" | "own_throttling" | "notes">;

interface WatchedEnd {
  end: ProgramEnd;
  /** @param loaded_s the measured seconds, as the program counts them */
  useOf(loaded_s: number, operations: number): Promise<ProgramUse>;
}

/** Reads the counters of the roles and of the program while `run` lets it run. */
export async function watchProgram(
  roles: readonly RunningRole[],
  source: string,
  run: (onStarted: (part: RunningPart) => void) => Promise<ProgramEnd>,
): Promise<WatchedEnd> {
  const watch = new CounterWatch(roles);
  const program = new EndingPart();
  await watch.start();
  let end: ProgramEnd;
  try {
    end = await run((part) => program.watch(part));
  } finally {
    program.stop();
    await watch.stop();
  }

  const useOf = async (loaded_s: number, operations: number): Promise<ProgramUse> => {
    const ofProgram = program.resources(source, loaded_s, operations);
    const ofRoles = await watch.resources(source, loaded_s, operations);
    const host_load = ofProgram && (await watch.hostLoad(end.program_s, {}, ofProgram.cpu_us));
    const own_throttling = await watch.ownThrottling();
    return {
      resources: ofProgram ? { ...ofRoles, [GENERATOR]: ofProgram } : ofRoles,
      ...definedOnly({ host_load, own_throttling }),
      notes: [...watch.failures],
    };
  };
  return { end, useOf };
}
