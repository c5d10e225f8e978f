import { totalmem } from "node:os";
import type { Environment } from "../contract/env.js";
import { usageError } from "../contract/errors.js";
import type { Flags } from "./flags.js";
import type { RoleCaps } from "./request.js";
import { flagOrVariable } from "./said.js";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1024, m: MIB, g: GIB };
/** Less, and no store or Node.js program comes up. */
const LEAST_MEMORY = 64 * MIB;
const MOST_CPUS = 1024;

/** Store nodes as the specification has them; the others may use what the machine has, but no more memory. */
const DEFAULT_CAPS: RoleCaps = {
  store: { cpus: 2, memory_bytes: 2 * GIB },
  server: { memory_bytes: 2 * GIB },
  generator: { memory_bytes: 2 * GIB },
};

type Kind = keyof RoleCaps;

export const CAPS = [
  { kind: "store", member: "cpus", flag: "--store-cpus", option: "storeCpus", variable: "STORE_CPUS" },
  {
    kind: "store",
    member: "memory_bytes",
    flag: "--store-memory",
    option: "storeMemory",
    variable: "STORE_MEMORY",
  },
  { kind: "server", member: "cpus", flag: "--server-cpus", option: "serverCpus", variable: "SERVER_CPUS" },
  {
    kind: "generator",
    member: "cpus",
    flag: "--loadtest-cpus",
    option: "loadtestCpus",
    variable: "LOADTEST_CPUS",
  },
  {
    kind: "store",
    member: "cpuset",
    flag: "--cpuset-store",
    option: "cpusetStore",
    variable: "CPUSET_STORE",
  },
  {
    kind: "server",
    member: "cpuset",
    flag: "--cpuset-server",
    option: "cpusetServer",
    variable: "CPUSET_SERVER",
  },
  {
    kind: "generator",
    member: "cpuset",
    flag: "--cpuset-loadtest",
    option: "cpusetLoadtest",
    variable: "CPUSET_LOADTEST",
  },
] as const satisfies readonly {
  kind: Kind;
  member: string;
  flag: string;
  option: keyof Flags;
  variable: string;
}[];

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

/** The caps that flags or environment ask for; what they leave open is the default. */
export function capsFrom(flags: Flags, env: Environment, notices: string[]): RoleCaps {
  const caps = structuredClone(DEFAULT_CAPS);
  for (const { kind, member, flag, option, variable } of CAPS) {
    const said = flagOrVariable(flag, flags[option], variable, env, notices);
    if (said) Object.assign(caps[kind], { [member]: parsers[member](said.source, said.value) });
  }
  return caps;
}
