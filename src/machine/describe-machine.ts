import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { cpus, release, totalmem, type } from "node:os";
import type { Machine } from "../contract/manifest.js";
import { definedOnly } from "../kit/defined-only.js";
import { type NetworkBytes, networkBytesIn } from "../kit/network-links.js";
import { rounded } from "../kit/numbers.js";
import { readHardware } from "./hardware.js";

/**
 * Names of links that carry again what another link carries. They belong to containers and bridges.
 */
const INNER = /^(lo|veth|br|docker|cni|cbr|flannel|cali|cilium|tunl|kube|virbr|dummy|ifb)/;

/** Adds up the bytes on all links of a machine that lead out. It is undefined without such a link. */
export const machineNetworkIn = (text: string): NetworkBytes | undefined =>
  networkBytesIn(text, (link) => !INNER.test(link));

export function readNetwork(): NetworkBytes | undefined {
  try {
    return machineNetworkIn(readFileSync("/proc/net/dev", "utf8"));
  } catch {
    return undefined;
  }
}

/** Kernel settings that can limit a load test on one host. */
const SYSCTL = [
  "net/core/somaxconn",
  "net/ipv4/tcp_max_syn_backlog",
  "net/ipv4/ip_local_port_range",
  "net/ipv4/tcp_tw_reuse",
  "vm/overcommit_memory",
  "kernel/randomize_va_space",
];

const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, "utf8").then(
    (text) => text.trim().replaceAll("\t", " "),
    () => undefined,
  );

/** The kernel's id of its start, which is the same in all containers. */
const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/**
 * Returns a hash that is equal for all that runs under one start of one kernel. It is undefined
 * where the system does not report it.
 */
export function kernelInstance(): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(BOOT_ID)).digest("hex").slice(0, 16);
  } catch {
    return undefined;
  }
}

/** The steps of a loop that takes about 20 ms on a CPU of 3 GHz. */
const INDEX_STEPS = 12_000_000;
/**
 * The loop runs in pieces, of which the shortest counts, because compilation, an interrupt or
 * another program is in the others.
 */
const INDEX_PIECES = 7;

/**
 * Returns the milliseconds of a fixed loop of integer steps, each of which needs the step before
 * (G. Marsaglia, "Xorshift RNGs", 2003).
 */
function indexMs(): number {
  const times: number[] = [];

  let state = -1_831_433_054;
  for (let piece = 0; piece < INDEX_PIECES; piece++) {
    const from = performance.now();
    for (let step = 0; step < INDEX_STEPS; step++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
    }
    times.push(performance.now() - from);
  }

  // The last state leaves the loop, so that none of it can be left out; it is never 0.
  return state === 0 ? 0 : rounded(Math.min(...times), 2);
}

/**
 * Returns the name of a CPU. Clouds give names without a number, such as "AMD EPYC". Then family
 * and model of the first CPU tell generations apart.
 */
export function cpuName(name: string, cpuinfo = ""): string {
  const [, family, model] = /^cpu family *: (\d+)\nmodel *: (\d+)$/m.exec(cpuinfo) ?? [];
  return /\d/.test(name) || !family ? name : `${name} (family ${family}, model ${model})`;
}

/** Returns the version of the microcode that the first CPU runs, as x86 tells it. */
export const microcodeIn = (cpuinfo = ""): string | undefined =>
  /^microcode\s*: (\S+)$/m.exec(cpuinfo)?.[1];

/** Returns the host as it is now, without what the system does not report. */
export async function describeMachine(): Promise<Machine> {
  const sysctl: [string, string][] = [];
  for (const name of SYSCTL) {
    const value = await textOf(`/proc/sys/${name}`);
    if (value !== undefined) sysctl.push([name.replaceAll("/", "."), value]);
  }

  const governor = await textOf("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const limits = await textOf("/proc/self/limits");
  const cpuinfo = await textOf("/proc/cpuinfo");
  const microcode = microcodeIn(cpuinfo);
  const openFiles = limits && /^Max open files\s+(\S+)\s+(\S+)/m.exec(limits);

  return definedOnly({
    platform: `${process.platform} ${process.arch}`,
    kernel: `${type()} ${release()}`,
    cpu_model: cpuName(cpus()[0]?.model ?? "unknown", cpuinfo),
    microcode,
    cpus: cpus().length,
    memory_bytes: totalmem(),
    governor: governor || undefined,
    ...readHardware(),
    index_ms: indexMs(),
    sysctl: Object.fromEntries(sysctl),
    open_files_limit: openFiles ? `${openFiles[1]} soft, ${openFiles[2]} hard` : undefined,
  });
}
