import { cpus, totalmem } from "node:os";
import type { Caps, KindCaps } from "../../contract/configuration.js";
import type { MeasuredKind } from "../../contract/role.js";
import { cpusInList } from "../../kit/cpu-list.js";
import { environmentError } from "../../kit/errors.js";
import { type CpuTopology, cpuList, readCpuTopology } from "../../machine/hardware.js";
import { counted } from "../ui/text.js";
import { DEFAULT_CAPS } from "./place-settings.js";
import type { Settings } from "./setting-layers.js";
import { badValue } from "./setting-values.js";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1024, m: MIB, g: GIB };
/** The least memory with which stores and programs of Node.js start. */
const LEAST_MEMORY_MIB = 64;
const LEAST_CPUS = 0.01;
const MOST_CPUS = 1024;

const CAPS = [
  { kind: "store", member: "cpus", key: "store-cpus" },
  { kind: "store", member: "memory_bytes", key: "store-memory" },
  { kind: "service", member: "cpus", key: "service-cpus" },
  { kind: "service", member: "memory_bytes", key: "service-memory" },
  { kind: "server", member: "cpus", key: "server-cpus" },
  { kind: "generator", member: "cpus", key: "loadtest-cpus" },
  { kind: "store", member: "cpuset", key: "cpuset-store" },
  { kind: "service", member: "cpuset", key: "cpuset-service" },
  { kind: "server", member: "cpuset", key: "cpuset-server" },
  { kind: "generator", member: "cpuset", key: "cpuset-loadtest" },
] as const satisfies readonly { kind: MeasuredKind; member: string; key: string }[];

/** Functions that read the text of a cap, by its member. All throw a usageError. */
const parsers = {
  cpus(source: string, text: string): number {
    const value = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= LEAST_CPUS && value <= MOST_CPUS) return value;
    throw badValue(source, text, `give a number of CPUs from ${LEAST_CPUS} to ${MOST_CPUS}`);
  },
  memory_bytes(source: string, text: string): number {
    const { amount, unit } = /^(?<amount>\d{1,12})(?<unit>[kmg]?)b?$/i.exec(text)?.groups ?? {};
    const bytes = Number(amount) * (UNITS[unit?.toLowerCase() ?? ""] ?? Number.NaN);
    if (bytes >= LEAST_MEMORY_MIB * MIB && bytes <= totalmem() * 64) return bytes;
    throw badValue(source, text, `give a size such as 512m or 2g, at least ${LEAST_MEMORY_MIB}m`);
  },
  cpuset(source: string, text: string): string {
    const ranges = text.split(",").map((range) => /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(range));
    const ascend = ranges.every(
      (range) => range && Number(range[1]) <= Number(range[2] ?? range[1]),
    );
    if (ascend) return text;
    throw badValue(source, text, "give CPU numbers such as 0-1,3");
  },
} as const;

/**
 * The caps of each kind by default. Store nodes and a service have those of the original, while
 * servers and generators have no CPU cap.
 */
function defaultCaps(): KindCaps {
  const memory = { memory_bytes: parsers.memory_bytes("the default", DEFAULT_CAPS.memory) };
  const cpusAndMemory = { cpus: parsers.cpus("the default", DEFAULT_CAPS.cpus), ...memory };
  return { server: memory, generator: memory, store: cpusAndMemory, service: cpusAndMemory };
}

export function capsFrom(settings: Settings): KindCaps {
  const caps = defaultCaps();
  for (const { kind, member, key } of CAPS) {
    const cap = settings.find(key);
    if (cap) caps[kind] = { ...caps[kind], [member]: parsers[member](cap.source, cap.value) };
  }
  return caps;
}

/**
 * @param available the numbers of the CPUs that roles can use
 * @throws environmentError that names a CPU which does not exist
 */
export function requireCpus(caps: KindCaps, available: readonly number[]): void {
  for (const { kind, member, key } of CAPS) {
    const text = member === "cpuset" ? caps[kind]?.cpuset : undefined;
    if (text === undefined) continue;

    const missing = cpusInList(text).find((cpu) => !available.includes(cpu));
    if (missing !== undefined)
      throw environmentError(
        `--${key} ${text}: there is no CPU ${missing} here: give some of ${available.join(",")}`,
      );
  }
}

type Core = { cpus: readonly number[]; node: number };

/**
 * The cores of a machine, with those of one NUMA node next to each other. Where the topology is not
 * known, each CPU counts as a core.
 */
function coresOf({ siblings, numa_nodes = [] }: CpuTopology): Core[] {
  const nodes = numa_nodes.map(cpusInList);
  const lists = siblings?.map(cpusInList) ?? cpus().map((_, cpu) => [cpu]);
  const cores = lists.map((coreCpus) => ({
    cpus: coreCpus,
    node: nodes.findIndex((node) => node.includes(coreCpus[0] ?? Number.NaN)),
  }));
  return cores.sort((a, b) => a.node - b.node || (a.cpus[0] ?? 0) - (b.cpus[0] ?? 0));
}

const byNode = (cores: readonly Core[]): Core[][] =>
  [...new Set(cores.map(({ node }) => node))].map((node) =>
    cores.filter((core) => core.node === node),
  );

const CPUS_PER_KIND = 2;

const cpusOf = (cores: readonly Core[]): number[] => cores.flatMap((core) => core.cpus);

/**
 * Whether cores are enough for a kind of role. Two cores are preferred; two CPUs, such as both
 * threads of one core, are accepted.
 */
const ENOUGH: readonly ((cores: readonly Core[]) => boolean)[] = [
  (cores) => cores.length >= CPUS_PER_KIND,
  (cores) => cpusOf(cores).length >= CPUS_PER_KIND,
];

/**
 * Divides whole cores between so many kinds of roles, each on one NUMA node if possible. The last
 * kind gets all cores that the others leave there.
 * @returns undefined where there are too few cores
 */
function divided(
  cores: readonly Core[],
  count: number,
  isEnough: (cores: readonly Core[]) => boolean,
): Core[][] | undefined {
  let free = [...cores];
  const shares: Core[][] = [];
  for (let kind = 1; kind <= count; kind++) {
    const isLast = kind === count;
    const nodes = byNode(free).filter(isEnough);
    const [node = free] = isLast ? nodes.sort((a, b) => b.length - a.length) : nodes;
    const lengths = isLast ? [node.length] : node.map((_, index) => index + 1);
    const share = lengths.map((length) => node.slice(0, length)).find(isEnough);
    if (!share) return undefined;
    shares.push(share);
    free = free.filter((core) => !share.includes(core));
  }
  return shares;
}

/**
 * Caps that pin each kind of role to its own whole cores, with all their threads, if no cpuset is
 * set and the machine has enough cores. All kinds are on one NUMA node if it has enough.
 */
export function pinnedToOwnCores(
  caps: KindCaps,
  notices: string[],
  topology: CpuTopology = readCpuTopology(),
): KindCaps {
  if (Object.values(caps).some(({ cpuset }) => cpuset !== undefined)) return caps;
  // A service shares the cores of the store, because most runs have no service.
  const { service, ...pinnedCaps } = caps;
  const kinds = Object.entries(pinnedCaps);
  const cores = coresOf(topology);
  const [shares] = [...byNode(cores), cores].flatMap((candidates) =>
    ENOUGH.flatMap((isEnough) => {
      const division = divided(candidates, kinds.length, isEnough);
      return division ? [division] : [];
    }),
  );
  if (!shares) {
    const size = `${counted(cores.length, "core")} with ${counted(cpusOf(cores).length, "CPU")}`;
    notices.push(
      `roles are not pinned: ${size}; each of ${kinds.length} kinds of roles needs whole cores with ${CPUS_PER_KIND} CPUs`,
    );
    return caps;
  }

  const pinned: KindCaps = Object.fromEntries(
    kinds.map(([kind, kindCaps], index) => {
      const numbers = cpusOf(shares[index] ?? []).sort((a, b) => a - b);
      return [kind, { ...kindCaps, cpuset: cpuList(numbers) }];
    }),
  );
  if (!service) return pinned;
  const cpuset = pinned.store?.cpuset;
  return { ...pinned, service: cpuset ? { ...service, cpuset } : service };
}

/** The caps with a change to those of each kind, without kinds that are not capped any more. */
export function mapCaps(caps: KindCaps, change: (caps: Caps) => Caps): KindCaps {
  const changed = Object.entries(caps).map(([kind, kindCaps]) => [kind, change(kindCaps)] as const);
  const isCapped = (kindCaps: Caps) => Object.values(kindCaps).some((cap) => cap !== undefined);
  return Object.fromEntries(changed.filter(([, kindCaps]) => isCapped(kindCaps)));
}
