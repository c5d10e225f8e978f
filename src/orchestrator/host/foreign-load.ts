import { readFileSync } from "node:fs";
import { foreignLimitPercent } from "../../contract/role-resources.js";
import { foreignCpuPercent, type HostCpu, readHostCpu, TICK_US } from "../../machine/cpu-time.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import { pause } from "../ownership/abort.js";
import { isOnThisMachine } from "./machine.js";

/** The shortest interval between readings, because the counters are too coarse for less. */
const MIN_INTERVAL_MS = 1000;

/** The CPU time of a process and its ended children in µs, from the text of its `stat`. */
export function processTreeCpuUs(stat: string): number {
  // The name in parentheses may contain spaces. Fields 14 to 17 are user and system time, then
  // those of children.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((total, ticks) => total + Number(ticks) * TICK_US, 0);
}

export function foreignWarning(
  percent: number,
  cpus: number,
  byTurns: boolean,
): string | undefined {
  if (percent < foreignLimitPercent(byTurns, cpus)) return undefined;
  const machine = cpus === 1 ? "this machine's one CPU" : `this machine's ${cpus} CPUs`;
  return `Other programs use ${(percent / 100).toFixed(1)} of ${machine}: runs will be suspect (M25)`;
}

interface Reading {
  host: HostCpu;
  /** The CPU time of this process and its ended children. */
  family_us: number;
}

function read(): Reading | undefined {
  const host = readHostCpu();
  return host && { host, family_us: processTreeCpuUs(readFileSync("/proc/self/stat", "utf8")) };
}

/**
 * Checks the CPU use of other programs before any part runs. It does so once in a process, because a
 * search runs many campaigns.
 */
export class ForeignLoadCheck {
  #firstReading: Reading | undefined;
  #isDone = false;

  start(): void {
    this.#firstReading = this.#isDone ? undefined : read();
  }

  async warning(
    runtime: Pick<Runtime, "engine">,
    byTurns: boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const first = this.#firstReading;
    this.#isDone = true;
    this.#firstReading = undefined;
    if (!first || !isOnThisMachine(runtime)) return undefined;

    const wait_ms = first.host.at_ms + MIN_INTERVAL_MS - performance.now();
    await pause(signal, Math.max(0, wait_ms) / 1000);
    const second = read();
    if (!second) return undefined;

    const family_us = second.family_us - first.family_us;
    const percent = foreignCpuPercent(first.host, second.host, family_us);
    return percent === undefined ? undefined : foreignWarning(percent, first.host.cpus, byTurns);
  }
}
