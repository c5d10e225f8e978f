import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import type { KindCaps } from "../../contract/configuration.js";
import type { Machine } from "../../contract/manifest.js";
import { type MeasuredKind, measuredKinds } from "../../contract/role.js";
import { cpusInList } from "../../kit/cpu-list.js";
import { definedOnly } from "../../kit/defined-only.js";
import { sum } from "../../kit/numbers.js";
import { type OwnLimits, readOwnLimits, usableCpus } from "../../machine/own-limits.js";
import type { Runtime } from "../../runtimes/runtime-types.js";

export type RoleCounts = Readonly<Record<MeasuredKind, number>>;

const KIND_NAMES: Readonly<Record<MeasuredKind, string>> = {
  server: "server",
  service: "service",
  store: "store",
  generator: "load generator",
};

const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").then(
    (text) => text.trim().replaceAll("\t", " "),
    () => undefined,
  );

type MachineSize = Pick<Machine, "cpus" | "memory_bytes">;

/** The limits that are tighter than the machine itself. */
export function tightLimits(
  limits: OwnLimits,
  { cpus, memory_bytes }: MachineSize,
): Pick<Machine, "cpus_allowed" | "cpu_quota" | "memory_limit_bytes"> {
  const { cpus_allowed, cpu_quota, memory_limit_bytes } = limits;
  const ifBelow = (limit: number | undefined, bound: number): number | undefined =>
    limit !== undefined && limit < bound ? limit : undefined;
  return definedOnly({
    cpus_allowed: ifBelow(cpus_allowed, cpus),
    cpu_quota: ifBelow(cpu_quota, cpus_allowed),
    memory_limit_bytes: ifBelow(memory_limit_bytes, memory_bytes),
  });
}

/** A sentence on what processes may use of this machine; undefined where they may use all of it. */
export function limitsText(limits: OwnLimits, size: MachineSize): string | undefined {
  const { cpus_allowed, cpu_quota, memory_limit_bytes } = tightLimits(limits, size);
  const parts: string[] = [];
  if (cpus_allowed !== undefined) parts.push(`${cpus_allowed} of ${size.cpus} CPUs`);
  if (cpu_quota !== undefined) parts.push(`${cpu_quota} CPUs by the quota of its control group`);
  if (memory_limit_bytes !== undefined)
    parts.push(`${Math.round(memory_limit_bytes / 2 ** 20)} MiB of memory`);
  return parts.length > 0 ? `this campaign may use ${listText(parts)}` : undefined;
}

/**
 * The limits of this process as a note of a plan. Only roles that a local runtime starts are under
 * them, too.
 */
export function limitsNotes(runtime: string): string[] {
  const size = { cpus: cpus().length, memory_bytes: totalmem() };
  const text = runtime === "local" ? limitsText(readOwnLimits(), size) : undefined;
  return text === undefined ? [] : [text];
}

export function conditionsOf(
  machine: Machine,
  {
    engine,
    capsApplied,
    conditions: knownConditions = [],
  }: Pick<Runtime, "engine" | "capsApplied" | "conditions">,
  caps: KindCaps,
  roleCounts: RoleCounts,
  cpuCount = engine?.cpus ??
    usableCpus({ ...machine, cpus_allowed: machine.cpus_allowed ?? machine.cpus }),
): string[] {
  const conditions: string[] = [...knownConditions];
  const kinds = measuredKinds.filter((kind) => roleCounts[kind] > 0);
  const roles = sum(kinds.map((kind) => roleCounts[kind]));
  // Roles of one kind share its CPU set.
  const isRoomy = kinds.every(
    (kind) => cpusInList(caps[kind]?.cpuset ?? "").length >= roleCounts[kind],
  );
  const isSeparated = capsApplied && isRoomy && disjoint(kinds.map((kind) => caps[kind]?.cpuset));
  // One core more is for all other programs.
  if (cpuCount < roles + 1 && !isSeparated) {
    const names = kinds.map((kind) => `${KIND_NAMES[kind]}${roleCounts[kind] > 1 ? "s" : ""}`);
    conditions.push(
      `${cpuCount} CPUs for ${roles} roles: ${listText(names)} share them, so figures are lower and noisier than on separate cores`,
    );
  }
  if (!capsApplied) conditions.push("no CPU or memory caps are applied by this runtime");
  for (const kind of capsApplied ? kinds : []) {
    const cap = caps[kind]?.cpus;
    if (cap !== undefined && cap > cpuCount)
      conditions.push(
        `the cap of ${cap} CPUs for the ${kind} is lowered to ${cpuCount}, all that there are`,
      );
  }
  if (machine.governor && machine.governor !== "performance")
    conditions.push(`the CPU governor is ${machine.governor}, not performance`);
  return conditions;
}

export const isOnThisMachine = ({
  engine,
  machines,
}: Pick<Runtime, "engine" | "machines">): boolean =>
  !machines && (!engine || engine.kernel === release());

const listText = (words: readonly string[]): string =>
  [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" and ");

/** Whether all CPU sets are present, and no two share a CPU. */
function disjoint(cpusets: readonly (string | undefined)[]): boolean {
  const cores = cpusets.map((text) => (text === undefined ? undefined : cpusInList(text)));
  const all = cores.flatMap((cpus) => cpus ?? []);
  return cores.every((cpus) => cpus !== undefined) && new Set(all).size === all.length;
}

/**
 * The numbers of so many CPUs. They are those online on this machine if it has as many, because some
 * may be switched off.
 */
export async function cpuNumbers(count: number): Promise<number[]> {
  const online = cpusInList((await textOf("/sys/devices/system/cpu/online")) ?? "");
  return online.length === count ? online : Array.from({ length: count }, (_, cpu) => cpu);
}

/**
 * The git revision of this project, with a mark where it has changes; undefined outside of its own
 * checkout.
 */
export async function gitRevision(folder: string): Promise<string | undefined> {
  const git = (...parameters: string[]) =>
    execa("git", ["-C", folder, ...parameters], { reject: false });
  // A prefix means that the package is installed inside another checkout, whose revision is not
  // ours.
  const head = await git("rev-parse", "HEAD", "--show-prefix");
  const [revision, prefix] = head.failed ? [] : head.stdout.split("\n");
  if (!revision || prefix) return undefined;
  const status = await git("status", "--porcelain", "--untracked-files=no");
  return status.stdout ? `${revision} with changes` : revision;
}

export const harnessVersion = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
