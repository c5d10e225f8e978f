import { readFileSync } from "node:fs";
import { foreignLimitPercent } from "../../contract/role-resources.js";
import { foreignCpuPercent, type HostCpu, readHostCpu, TICK_US } from "../../machine/cpu-time.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import { pause } from "../ownership/abort.js";
import { isOnThisMachine } from "./machine.js";

/** The counters are too coarse for shorter intervals. */
const MIN_INTERVAL_MS = 1000;

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
  /** Of this process and its ended children. */
  family_us: number;
}

function read(): Reading | undefined {
  const host = readHostCpu();
  return host && { host, family_us: processTreeCpuUs(readFileSync("/proc/self/stat", "utf8")) };
}

/**
 * The CPU use of others before any part runs: once a process, since a search runs many campaigns.
 */
export class ForeignLoadCheck {
  #from: Reading | undefined;
  #isDone = false;

  start(): void {
    this.#from = this.#isDone ? undefined : read();
  }

  async warning(
    runtime: Pick<Runtime, "engine">,
    byTurns: boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const from = this.#from;
    this.#isDone = true;
    this.#from = undefined;
    if (!from || !isOnThisMachine(runtime)) return undefined;
    await pause(signal, Math.max(0, from.host.at_ms + MIN_INTERVAL_MS - performance.now()) / 1000);
    const to = read();
    const foreign = to && foreignCpuPercent(from.host, to.host, to.family_us - from.family_us);
    return foreign === undefined ? undefined : foreignWarning(foreign, from.host.cpus, byTurns);
  }
}
