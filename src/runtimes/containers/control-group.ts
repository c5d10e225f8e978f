import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type RunDelays, readRunDelays } from "../run-delay.js";
import type { PartCounters } from "../types.js";

const ROOT = "/sys/fs/cgroup";

/** The fields of a kernel statistic with lines `name value`. */
const fieldsOf = (text: string): Map<string, number> =>
  new Map(
    text.split("\n").map((line) => {
      const [name = "", value] = line.split(" ");
      return [name, Number(value)];
    }),
  );

const read = (folder: string, name: string): Promise<string> => readFile(join(folder, name), "utf8");

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

/** The files of a control group of version 2 that hold a part's counters. */
export const UNIFIED_FILES = ["cpu.stat", "memory.stat", "memory.current"] as const;

/** The counters in the texts of `UNIFIED_FILES`. */
export function unifiedCounters(cpu: string, memory: string, current: string): Omit<PartCounters, "network"> {
  const usage = fieldsOf(cpu);
  const droppable = fieldsOf(memory).get("inactive_file") ?? 0;
  return {
    cpu_us: usage.get("usage_usec") ?? 0,
    resident_bytes: Math.max(0, Number(current) - droppable),
    ...throttling(usage, usage.get("throttled_usec") ?? 0),
  };
}

/** The same of version 1, each with the controller whose folder holds it. */
export const SEPARATE_FILES = [
  { controller: "cpuacct", name: "cpuacct.usage" },
  { controller: "cpu", name: "cpu.stat" },
  { controller: "memory", name: "memory.stat" },
  { controller: "memory", name: "memory.usage_in_bytes" },
] as const;

/** The counters in the texts of `SEPARATE_FILES`. */
export function separateCounters(
  usage_ns: string,
  cpu: string,
  memory: string,
  current: string,
): Omit<PartCounters, "network"> {
  const usage = fieldsOf(cpu);
  const droppable = fieldsOf(memory).get("total_inactive_file") ?? 0;
  return {
    cpu_us: Math.round(Number(usage_ns) / 1000),
    resident_bytes: Math.max(0, Number(current) - droppable),
    ...throttling(usage, (usage.get("throttled_time") ?? 0) / 1000),
  };
}

/** Control groups, version 2: one folder. */
async function unified(folder: string): Promise<Omit<PartCounters, "network">> {
  const [cpu = "", memory = "", current = ""] = await Promise.all(
    UNIFIED_FILES.map((name) => read(folder, name)),
  );
  return unifiedCounters(cpu, memory, current);
}

/** Control groups, version 1: a folder for each controller. */
async function separate(folders: ReadonlyMap<string, string>): Promise<Omit<PartCounters, "network">> {
  const [usage_ns = "", cpu = "", memory = "", current = ""] = await Promise.all(
    SEPARATE_FILES.map(({ controller, name }) => read(folders.get(controller) ?? "", name)),
  );
  return separateCounters(usage_ns, cpu, memory, current);
}

function throttling(
  usage: ReadonlyMap<string, number>,
  throttled_us: number,
): Pick<PartCounters, "throttling"> {
  const periods = usage.get("nr_periods") ?? 0;
  if (periods === 0) return {};
  const throttled_periods = usage.get("nr_throttled") ?? 0;
  return { throttling: { periods, throttled_periods, throttled_us: Math.round(throttled_us) } };
}

/** A container's control group on this machine. */
export interface ControlGroup {
  counters(): Promise<PartCounters>;
  /** Run delays of all its threads; undefined where the system does not report them. */
  runDelays(): Promise<RunDelays | undefined>;
}

/**
 * Reads a container's counters from this machine's control groups: at once and at no cost to the engine. Some engines
 * answer a request for counters only at the start of the next second.
 * @param id of the container @param pid its first process, as the engine reports it
 * @param ownNetwork whether its links are its own, not those of its machine
 * @returns undefined where they cannot be read, e.g. because the engine runs in a virtual machine
 */
export async function controlGroupOf(
  id: string,
  pid: number,
  ownNetwork: boolean,
): Promise<ControlGroup | undefined> {
  try {
    const lines = (await readFile(`/proc/${pid}/cgroup`, "utf8")).trim().split("\n");
    // If the engine runs in a virtual machine, this machine has another process with that id, or none.
    if (!lines.some((line) => line.includes(id))) return undefined;
    const folders = new Map<string, string>();
    for (const line of lines) {
      const [, controllers = "", ...path] = line.split(":");
      for (const controller of controllers.split(",")) {
        folders.set(controller, join(ROOT, controller, path.join(":")));
      }
    }
    const one = folders.get("") ?? "";
    const isUnified = await access(join(one, "cpu.stat")).then(
      () => true,
      () => false,
    );
    const group: ControlGroup = {
      async counters() {
        return {
          ...(await (isUnified ? unified(one) : separate(folders))),
          ...(ownNetwork ? { network: networkOf(await readFile(`/proc/${pid}/net/dev`, "utf8")) } : {}),
        };
      },
      async runDelays() {
        const processes = await read(isUnified ? one : (folders.get("cpu") ?? ""), "cgroup.procs");
        return readRunDelays(processes.trim().split("\n").map(Number));
      },
    };
    await group.counters();
    return group;
  } catch {
    return undefined;
  }
}
