import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../contract/manifest.js";
import { cpusInList } from "../kit/cpu-list.js";
import { definedOnly } from "../kit/defined-only.js";

/** What sits in a machine, as far as Linux reports it. */
type Hardware = Pick<Machine, "smt" | "siblings" | "caches" | "numa_nodes" | "hypervisor">;

/**
 * The CPUs that are threads of one core, and those of each NUMA node, as lists. They are absent
 * where not known.
 */
export type CpuTopology = Pick<Hardware, "siblings" | "numa_nodes">;

type Cache = NonNullable<Hardware["caches"]>[number];

const KILO = 1024;
const CACHE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  K: KILO,
  M: KILO ** 2,
  G: KILO ** 3,
};

/**
 * @returns the first line of a file without white space around it. It is undefined for an empty or
 * unreadable file
 */
function lineOf(...path: readonly string[]): string | undefined {
  const [first = ""] = textOf(...path).split("\n");
  return first.trim() || undefined;
}

function textOf(...path: readonly string[]): string {
  try {
    return readFileSync(join(...path), "utf8");
  } catch {
    return "";
  }
}

function numbered(folder: string, prefix: string): string[] {
  const numberOf = (name: string) => Number(name.slice(prefix.length));
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
      .sort((a, b) => numberOf(a) - numberOf(b));
  } catch {
    return [];
  }
}

export function cpuList(cpus: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const cpu of cpus) {
    const last = ranges.at(-1);
    if (last && cpu === last[1] + 1) last[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
    .join(",");
}

export function readCpuTopology(root = "/"): CpuTopology {
  const cpus = join(root, "sys/devices/system/cpu");
  // A CPU that is switched off has no topology, or an old one.
  const online = lineOf(cpus, "online");
  const onlineCpus =
    online === undefined ? undefined : new Set(cpusInList(online).map((cpu) => `cpu${cpu}`));
  const siblings = new Set(
    numbered(cpus, "cpu").flatMap((cpu) =>
      onlineCpus && !onlineCpus.has(cpu)
        ? []
        : (lineOf(cpus, cpu, "topology/thread_siblings_list") ?? []),
    ),
  );
  const nodes = join(root, "sys/devices/system/node");
  // A node of memory alone has no CPUs.
  const numaNodes = numbered(nodes, "node").flatMap((node) => lineOf(nodes, node, "cpulist") ?? []);

  return definedOnly({
    siblings: siblings.size > 0 ? [...siblings] : undefined,
    numa_nodes: numaNodes.length > 0 ? numaNodes : undefined,
  });
}

function cachesIn(root: string): Cache[] {
  const folder = join(root, "sys/devices/system/cpu/cpu0/cache");
  return numbered(folder, "index").flatMap((index) => {
    const [level, type, size, cpus] = ["level", "type", "size", "shared_cpu_list"].map((name) =>
      lineOf(folder, index, name),
    );
    const [, amount, unit = ""] = /^(\d+)([KMG]?)$/.exec(size ?? "") ?? [];
    if (!(level && type && amount && cpus)) return [];
    return [
      { level: Number(level), type, size_bytes: Number(amount) * (CACHE_UNITS[unit] ?? 1), cpus },
    ];
  });
}

/**
 * Returns the hypervisor of this machine. Only x86 reports that it is virtual, so elsewhere nothing
 * is known without a name.
 */
function hypervisorOf(root: string): string | undefined {
  const flags = /^flags\s*:(.*)$/m.exec(textOf(root, "proc/cpuinfo"))?.[1]?.split(/\s+/);
  const type = lineOf(root, "sys/hypervisor/type");
  if (!flags) return type;
  if (!flags.includes("hypervisor")) return "none";
  const [vendor, product] = ["sys_vendor", "product_name"].map((name) =>
    lineOf(root, "sys/class/dmi/id", name),
  );
  const names = new Set([vendor, product].filter((name) => name !== undefined));
  return [...names].join(" ") || type || "unknown kind";
}

export function readHardware(root = "/"): Hardware {
  const topology = readCpuTopology(root);
  const caches = cachesIn(root);
  const hypervisor = hypervisorOf(root);
  const { siblings } = topology;
  return definedOnly({
    smt: siblings ? siblings.some((list) => cpusInList(list).length > 1) : undefined,
    ...topology,
    caches: caches.length > 0 ? caches : undefined,
    hypervisor,
  });
}
