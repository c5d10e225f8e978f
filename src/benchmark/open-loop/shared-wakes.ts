import { cpus } from "node:os";
import { allowedCpus } from "../../kit/control-groups.js";

/**
 * The idle time of all CPUs that this process may use, since the start of the machine. It
 * is undefined where it is not known.
 */
export function idleCpuMs(): number | undefined {
  const machine = cpus();
  const allowed = allowedCpus();
  if (allowed.length === 0) return undefined;

  let idle_ms = 0;
  for (const cpu of allowed) {
    // With offline CPUs the numbers may exceed the list.
    const times = machine[cpu]?.times;
    if (!times) return undefined;
    idle_ms += times.idle;
  }

  return idle_ms;
}

/** The warm-up must last so long that the idle time in it means something. */
const MIN_WARMUP_MS = 1_000;

/**
 * Whether sends that are due within half a millisecond share a wake, which costs 20 µs of
 * CPU. They do unless a whole CPU was idle.
 * @param idle_ms idle time in the warm-up of all CPUs that this process may use. It is undefined
 * where it is not known
 */
export const sharesWakes = (idle_ms: number | undefined, warmup_ms: number): boolean =>
  idle_ms === undefined || warmup_ms < MIN_WARMUP_MS || idle_ms < warmup_ms;
