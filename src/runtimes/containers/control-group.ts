import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { fieldsOf, throttlingIn } from "../../kit/control-groups.js";
import { sum } from "../../kit/numbers.js";
import { type RunDelays, readRunDelays } from "../run-delay.js";
import type { PartCounters } from "../runtime-types.js";

/** From the engine's statistics of a container. @throws Error when it is not running */
export function countersOf(stats: Docker.ContainerStats): PartCounters {
  const { cpu_stats: cpu, memory_stats: memory, networks } = stats;
  if (!memory.usage) throw new Error("it is not running");
  // The name differs between versions 1 and 2 of control groups. Cached files that can be dropped
  // do not count.
  const droppable = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0;
  const links = Object.values(networks ?? {});
  const network = {
    received_bytes: sum(links.map(({ rx_bytes }) => rx_bytes)),
    sent_bytes: sum(links.map(({ tx_bytes }) => tx_bytes)),
  };
  const { periods, throttled_periods, throttled_time } = cpu.throttling_data;
  const throttled_us = Math.round(throttled_time / 1000);
  return {
    cpu_us: Math.round(cpu.cpu_usage.total_usage / 1000),
    resident_bytes: Math.max(0, memory.usage - droppable),
    ...(periods > 0 ? { throttling: { periods, throttled_periods, throttled_us } } : {}),
    ...(links.length > 0 ? { network } : {}),
  };
}

const ROOT = "/sys/fs/cgroup";

/** Bytes of all links but loopback, from `/proc/PID/net/dev`. */
export function networkOf(text: string): { received_bytes: number; sent_bytes: number } {
  let received_bytes = 0;
  let sent_bytes = 0;
  for (const line of text.split("\n").slice(2)) {
    const [link = "", ...values] = line.trim().split(/[:\s]+/);
    if (link === "" || link === "lo") continue;
    received_bytes += Number(values[0]);
    sent_bytes += Number(values[8]);
  }
  return { received_bytes, sent_bytes };
}

export interface GroupVersion {
  /**
   * The files that hold them, each with the controller whose folder has it: none where all share
   * one.
   */
  files: readonly { controller: string; name: string }[];
  countersIn(texts: readonly string[]): Omit<PartCounters, "network">;
}

export const unified: GroupVersion = {
  files: ["cpu.stat", "memory.stat", "memory.current"].map((name) => ({ controller: "", name })),
  countersIn([cpu = "", memory = "", current = ""]) {
    return {
      cpu_us: fieldsOf(cpu).get("usage_usec") ?? 0,
      resident_bytes: Math.max(0, Number(current) - (fieldsOf(memory).get("inactive_file") ?? 0)),
      ...throttled(cpu),
    };
  },
};

export const separate: GroupVersion = {
  files: [
    { controller: "cpuacct", name: "cpuacct.usage" },
    { controller: "cpu", name: "cpu.stat" },
    { controller: "memory", name: "memory.stat" },
    { controller: "memory", name: "memory.usage_in_bytes" },
  ],
  countersIn([usage_ns = "", cpu = "", memory = "", current = ""]) {
    return {
      cpu_us: Math.round(Number(usage_ns) / 1000),
      resident_bytes: Math.max(
        0,
        Number(current) - (fieldsOf(memory).get("total_inactive_file") ?? 0),
      ),
      ...throttled(cpu),
    };
  },
};

function throttled(cpuStat: string): Pick<PartCounters, "throttling"> {
  const throttling = throttlingIn(cpuStat);
  return throttling ? { throttling } : {};
}

export interface ControlGroup {
  counters(): Promise<PartCounters>;
  runDelays(): Promise<RunDelays | undefined>;
}

/**
 * At once and at no cost to the engine, which may answer only at the start of the next second.
 * @param pid its first process @param ownNetwork whether its links are its own @returns undefined
 * where they cannot be read
 */
export async function controlGroupOf(
  id: string,
  pid: number,
  ownNetwork: boolean,
): Promise<ControlGroup | undefined> {
  try {
    const lines = (await readFile(`/proc/${pid}/cgroup`, "utf8")).trim().split("\n");
    // If the engine runs in a virtual machine, this machine has another process with that id, or
    // none.
    if (!lines.some((line) => line.includes(id))) return undefined;
    const folders = new Map<string, string>();
    for (const line of lines) {
      const [, controllers = "", ...path] = line.split(":");
      for (const controller of controllers.split(","))
        folders.set(controller, join(ROOT, controller, path.join(":")));
    }
    const version = existsSync(join(folders.get("") ?? "", "cpu.stat")) ? unified : separate;
    const read = ({ controller, name }: GroupVersion["files"][number]) =>
      readFile(join(folders.get(controller) ?? "", name), "utf8");
    const group: ControlGroup = {
      async counters() {
        return {
          ...version.countersIn(await Promise.all(version.files.map(read))),
          ...(ownNetwork
            ? { network: networkOf(await readFile(`/proc/${pid}/net/dev`, "utf8")) }
            : {}),
        };
      },
      async runDelays() {
        const processes = await read({
          controller: version === unified ? "" : "cpu",
          name: "cgroup.procs",
        });
        return readRunDelays(processes.trim().split("\n").map(Number));
      },
    };
    await group.counters();
    return group;
  } catch {
    return undefined;
  }
}
