import { readFileSync } from "node:fs";
import type { HostLoad } from "../contract/role-resources.js";
import { rounded, sum } from "../kit/numbers.js";

export interface HostCpu {
  at_ms: number;
  cpus: number;
  idle_us: number;
  /** The time in which the host of this virtual machine ran something else. */
  stolen_us: number;
  /** Time of interrupts. It is 0 where the kernel counts it as time of the interrupted programs. */
  interrupts_us: number;
  /** All time that the kernel accounted for. */
  accounted_us: number;
}

/** The kernel counts in hundredths of a second on every architecture that Node.js supports. */
export const TICK_US = 10_000;
/** Readings are useless where the kernel accounted for less than this share of the elapsed time. */
const MIN_ACCOUNTED_SHARE = 0.5;

export function hostCpuOf(text: string, at_ms: number): HostCpu | undefined {
  const counters = /^cpu {2}(.*)$/m.exec(text)?.[1]?.split(" ").map(Number) ?? [];
  const cpus = text.match(/^cpu\d+ /gm)?.length ?? 0;
  // The guest times that follow are already part of user time.
  const times = counters.slice(0, 8).map((ticks) => ticks * TICK_US);
  if (cpus === 0 || times.length < 8 || times.some(Number.isNaN)) return undefined;
  const [, , , idle = 0, waiting = 0, hardware = 0, software = 0, stolen_us = 0] = times;

  return {
    at_ms,
    cpus,
    idle_us: idle + waiting,
    stolen_us,
    // A kernel that counts no time of hardware interrupts measures no interrupts at all: it then
    // estimates the time of software ones by ticks, while the counters of the programs contain it,
    // too.
    interrupts_us: hardware > 0 ? hardware + software : 0,
    accounted_us: sum(times),
  };
}

export function readHostCpu(): HostCpu | undefined {
  try {
    return hostCpuOf(readFileSync("/proc/stat", "utf8"), performance.now());
  } catch {
    return undefined;
  }
}

type HostWork = { elapsed_us: number; programs_us: number; interrupts_us: number };

/**
 * Returns the work between two readings. It is derived from idle time, which is exact, because most
 * kernels only sample user and system time.
 */
function workBetween(from: HostCpu, to: HostCpu): HostWork | undefined {
  const elapsed_us = (to.at_ms - from.at_ms) * 1000;
  const all_us = to.cpus * elapsed_us;
  const accounted_us = to.accounted_us - from.accounted_us;
  if (elapsed_us <= 0 || from.cpus !== to.cpus || accounted_us < MIN_ACCOUNTED_SHARE * all_us)
    return undefined;
  const growthOf = (key: "idle_us" | "stolen_us" | "interrupts_us") =>
    Math.max(0, to[key] - from[key]);
  const interrupts_us = growthOf("interrupts_us");
  const programs_us = Math.max(
    0,
    all_us - growthOf("idle_us") - growthOf("stolen_us") - interrupts_us,
  );
  return { elapsed_us, programs_us, interrupts_us };
}

/**
 * Returns the CPU time of other programs between two readings, in % of one CPU. It is undefined
 * where the system does not count it.
 */
export function foreignCpuPercent(from: HostCpu, to: HostCpu, ours_us: number): number | undefined {
  const work = workBetween(from, to);
  return work && (100 * Math.max(0, work.programs_us - ours_us)) / work.elapsed_us;
}

/**
 * Returns how busy the machine was. The readings are taken while the generator is drained, so our
 * work falls into the window, and foreign work into all the time between them.
 * @param ours_us CPU time of all roles and the harness
 * @param loaded_s seconds of load
 */
export function hostLoadOf(
  from: HostCpu,
  to: HostCpu,
  ours_us: number,
  loaded_s: number,
): HostLoad | undefined {
  const work = workBetween(from, to);
  const foreign = foreignCpuPercent(from, to, ours_us);
  if (!work || foreign === undefined) return undefined;
  const own_us = Math.min(ours_us, work.programs_us) + work.interrupts_us;
  return {
    cpus: to.cpus,
    busy_cpu_percent: rounded(Math.min(100 * to.cpus, own_us / loaded_s / 10_000 + foreign), 1),
    foreign_cpu_percent: rounded(foreign, 1),
  };
}
