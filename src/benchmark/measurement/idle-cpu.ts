import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** The CPUs of a list such as `0-2,5`; undefined for any other text. */
export function cpusInList(list: string): number[] | undefined {
  const ranges = list.trim().split(",");
  const all = ranges.flatMap((range) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    const count = Number(last) - Number(first) + 1;
    return count > 0 ? Array.from({ length: count }, (_, index) => Number(first) + index) : [Number.NaN];
  });
  return all.some(Number.isNaN) ? undefined : all;
}

/** The CPUs that this process may use; undefined where the system does not say. */
function allowedCpus(): number[] | undefined {
  try {
    const [, list] = /^Cpus_allowed_list:(.*)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return list === undefined ? undefined : cpusInList(list);
  } catch {
    return undefined;
  }
}

/** Idle time since the start of the machine of all CPUs that this process may use; undefined where it is not known. */
export function idleCpuMs(): number | undefined {
  const machine = cpus();
  let idle_ms = 0;
  for (const cpu of allowedCpus() ?? [Number.NaN]) {
    // With offline CPUs the numbers may exceed the list.
    const times = machine[cpu]?.times;
    if (!times) return undefined;
    idle_ms += times.idle;
  }
  return idle_ms;
}
