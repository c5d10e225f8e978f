import { readFileSync } from "node:fs";

/** Files of this process's control group in a container: version 2, then version 1. */
const CPU_STATS = ["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"];

/** In how many periods a CPU cap has held this process back; 0 without a cap, and where the system does not tell. */
export function throttledPeriods(): number {
  for (const path of CPU_STATS) {
    try {
      const found = /^nr_throttled (\d+)$/m.exec(readFileSync(path, "utf8"))?.[1];
      if (found !== undefined) return Number(found);
    } catch {
      // The file is absent: the other version is read.
    }
  }
  return 0;
}
