import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { fieldsOf, throttlingIn } from "../../kit/control-groups.js";
import { definedOnly } from "../../kit/defined-only.js";
import { type NetworkBytes, networkBytesIn } from "../../kit/network-links.js";
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
  const throttling = { periods, throttled_periods, throttled_us };
  return definedOnly({
    cpu_us: Math.round(cpu.cpu_usage.total_usage / 1000),
    resident_bytes: Math.max(0, memory.usage - droppable),
    throttling: periods > 0 ? throttling : undefined,
    network: links.length > 0 ? network : undefined,
  });
}

const ROOT = "/sys/fs/cgroup";

/**
 * Adds up the bytes of all links but loopback, which are 0 without such a link.
 * @param text of `/proc/PID/net/dev`
 */
export const partNetworkIn = (text: string): NetworkBytes =>
  networkBytesIn(text, (link) => link !== "lo") ?? { received_bytes: 0, sent_bytes: 0 };

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
    const droppable = fieldsOf(memory).get("inactive_file") ?? 0;
    return definedOnly({
      cpu_us: fieldsOf(cpu).get("usage_usec") ?? 0,
      resident_bytes: Math.max(0, Number(current) - droppable),
      throttling: throttlingIn(cpu),
    });
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
    const droppable = fieldsOf(memory).get("total_inactive_file") ?? 0;
    return definedOnly({
      cpu_us: Math.round(Number(usage_ns) / 1000),
      resident_bytes: Math.max(0, Number(current) - droppable),
      throttling: throttlingIn(cpu),
    });
  },
};

export interface ControlGroup {
  counters(): Promise<PartCounters>;
  runDelays(): Promise<RunDelays | undefined>;
}

/**
 * The counters of a container as this machine's kernel keeps them. They are read at once and at no
 * cost to the engine, which may answer only at the start of the next second.
 * @param pid first process of the container
 * @param hasOwnNetwork whether its network links are its own
 * @returns undefined where they cannot be read
 */
export async function controlGroupOf(
  id: string,
  pid: number,
  hasOwnNetwork: boolean,
): Promise<ControlGroup | undefined> {
  try {
    const lines = (await readFile(`/proc/${pid}/cgroup`, "utf8")).trim().split("\n");
    // If the engine runs in a virtual machine, this machine has another process with that id, or
    // none.
    if (!lines.some((line) => line.includes(id))) return undefined;

    const folders = foldersIn(lines);
    const version = existsSync(join(folders.get("") ?? "", "cpu.stat")) ? unified : separate;
    const read = ({ controller, name }: GroupVersion["files"][number]) =>
      readFile(join(folders.get(controller) ?? "", name), "utf8");
    const readNetwork = async () => partNetworkIn(await readFile(`/proc/${pid}/net/dev`, "utf8"));
    const group: ControlGroup = {
      async counters() {
        const counters = version.countersIn(await Promise.all(version.files.map(read)));
        if (!hasOwnNetwork) return counters;
        return { ...counters, network: await readNetwork() };
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

/** The folder of each controller, from the lines of `/proc/PID/cgroup`. */
function foldersIn(lines: readonly string[]): Map<string, string> {
  const folders = new Map<string, string>();
  for (const line of lines) {
    const [, controllers = "", ...path] = line.split(":");
    for (const controller of controllers.split(",")) {
      folders.set(controller, join(ROOT, controller, path.join(":")));
    }
  }
  return folders;
}
