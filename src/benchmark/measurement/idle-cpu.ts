import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { cpusInList } from "../../contract/cpu-list.js";

/** The CPUs that this process may use; none where the system does not say. */
function allowedCpus(): number[] {
  try {
    const [, list = ""] = /^Cpus_allowed_list:(.*)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return cpusInList(list);
  } catch {
    return [];
  }
}

/** Idle time since the start of the machine of all CPUs that this process may use; undefined where it is not known. */
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
