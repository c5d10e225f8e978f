import { cpus, totalmem } from "node:os";
import type { Caps, KindCaps } from "../../contract/configuration.js";
import { environmentError, usageError } from "../../contract/errors.js";
import type { MeasuredKind } from "../../contract/role.js";
import { cpusInList } from "../host/machine.js";
import type { Settings } from "./setting-layers.js";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1024, m: MIB, g: GIB };
/** With less, no store or Node.js program starts. */
const LEAST_MEMORY = 64 * MIB;
const MOST_CPUS = 1024;

/** Store nodes have the caps of the specification. Servers and generator have no CPU cap. */
const DEFAULT_CAPS: KindCaps = {
  server: { memory_bytes: 2 * GIB },
  generator: { memory_bytes: 2 * GIB },
  store: { cpus: 2, memory_bytes: 2 * GIB },
};

const CAPS = [
  { kind: "store", member: "cpus", key: "store-cpus" },
  { kind: "store", member: "memory_bytes", key: "store-memory" },
  { kind: "server", member: "cpus", key: "server-cpus" },
  { kind: "generator", member: "cpus", key: "loadtest-cpus" },
  { kind: "store", member: "cpuset", key: "cpuset-store" },
  { kind: "server", member: "cpuset", key: "cpuset-server" },
  { kind: "generator", member: "cpuset", key: "cpuset-loadtest" },
] as const satisfies readonly { kind: MeasuredKind; member: string; key: string }[];

const bad = (source: string, text: string, valid: string) =>
  usageError(`${source} ${JSON.stringify(text.slice(0, 60))}: give ${valid}`);

const parsers = {
  cpus(source: string, text: string): number {
    const value = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= 0.01 && value <= MOST_CPUS) return value;
    throw bad(source, text, `a number of CPUs from 0.01 to ${MOST_CPUS}`);
  },
  memory_bytes(source: string, text: string): number {
    const { amount, unit } = /^(?<amount>\d{1,12})(?<unit>[kmg]?)b?$/i.exec(text)?.groups ?? {};
    const bytes = Number(amount) * (UNITS[unit?.toLowerCase() ?? ""] ?? Number.NaN);
    if (bytes >= LEAST_MEMORY && bytes <= totalmem() * 64) return bytes;
    throw bad(source, text, "a size such as 512m or 2g, at least 64m");
  },
  cpuset(source: string, text: string): string {
    const ranges = text.split(",").map((range) => /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(range));
    const ascend = ranges.every((range) => range && Number(range[1]) <= Number(range[2] ?? range[1]));
    if (ascend) return text;
    throw bad(source, text, "CPU numbers such as 0-1,3");
  },
} as const;

/** The caps that the settings give; the default for those that are not set. */
export function capsFrom(settings: Settings): KindCaps {
  const caps = structuredClone(DEFAULT_CAPS);
  for (const { kind, member, key } of CAPS) {
    const cap = settings.find(key);
    if (cap) caps[kind] = { ...caps[kind], [member]: parsers[member](cap.source, cap.value) };
  }
  return caps;
}

/** @param available numbers of the CPUs that roles can use @throws environmentError naming one that does not exist */
export function requireCpus(caps: KindCaps, available: readonly number[]): void {
  for (const { kind, member, key } of CAPS) {
    const text = member === "cpuset" ? caps[kind]?.cpuset : undefined;
    const missing = text === undefined ? undefined : cpusInList(text).find((cpu) => !available.includes(cpu));
    if (missing !== undefined)
      throw environmentError(
        `--${key} ${text}: there is no CPU ${missing} here: give some of ${available.join(",")}`,
      );
  }
}

const CORES_PER_KIND = 2;

/**
 * Caps that pin each kind of role to its own cores, if no cpuset is set and the machine has enough cores. The last kind
 * gets all that the others leave.
 */
export function pinnedToOwnCores(caps: KindCaps, notices: string[], available = cpus().length): KindCaps {
  const kinds = Object.entries(caps);
  const enough = CORES_PER_KIND * kinds.length;
  if (Object.values(caps).some(({ cpuset }) => cpuset !== undefined)) return caps;
  if (available < enough) {
    notices.push(`roles are not pinned: ${available} CPUs, ${enough} are needed to give each role its own`);
    return caps;
  }
  const pinned = kinds.map(([kind, own], index) => {
    const first = CORES_PER_KIND * index;
    const last = index === kinds.length - 1 ? available - 1 : first + CORES_PER_KIND - 1;
    return [kind, { ...own, cpuset: `${first}-${last}` }];
  });
  return Object.fromEntries(pinned);
}

/** The caps of each kind, changed; kinds without caps afterwards are left out. */
export function mapCaps(caps: KindCaps, change: (caps: Caps) => Caps): KindCaps {
  const changed = Object.entries(caps).map(([kind, own]) => [kind, change(own)] as const);
  return Object.fromEntries(changed.filter(([, own]) => Object.values(own).some((cap) => cap !== undefined)));
}
