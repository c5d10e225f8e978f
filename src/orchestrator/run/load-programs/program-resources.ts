import type { RoleResources } from "../../../contract/role-resources.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { rounded, sum } from "../../../kit/numbers.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";
import { CounterWatch } from "../counter-watch.js";
import { GENERATOR } from "../layout.js";
import type { RunningRole } from "../part-supervisor.js";
import type { RawPrintedRun } from "./program-load.js";
import type { ProgramEnd } from "./start-load-program.js";

/** The time between readings, which is short because a program may end within a second or two. */
const PROGRAM_PERIOD_MS = 200;

/**
 * The watch of a program that ends by itself. Its rate of CPU time between the first and the last
 * reading stands for the whole.
 */
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
    const residentBytes = this.#readings.map(({ resident_bytes }) => resident_bytes);
    return {
      kind: "generator",
      source: `${source}, while it ran`,
      cpu_us,
      cpu_percent: rounded(100 * share, 2),
      cpu_us_per_request: rounded(cpu_us / operations, 2),
      resident_bytes_mean: Math.round(sum(residentBytes) / residentBytes.length),
      resident_bytes_max: Math.max(...residentBytes),
      samples: [],
    };
  }
}

/** The resources of the roles while a load program ran, with notes on failed readings. */
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
    const programResources = program.resources(source, loaded_s, operations);
    const resources = await watch.resources(source, loaded_s, operations);
    if (programResources) resources[GENERATOR] = programResources;
    const host_load =
      programResources && (await watch.hostLoad(end.program_s, {}, programResources.cpu_us));
    const own_throttling = await watch.ownThrottling();
    return {
      resources,
      ...definedOnly({ host_load, own_throttling }),
      notes: [...watch.failures],
    };
  };
  return { end, useOf };
}
