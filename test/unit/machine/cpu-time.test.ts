import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  foreignCpuPercent,
  type HostCpu,
  hostCpuOf,
  hostLoadOf,
} from "../../../src/machine/cpu-time.js";
import { machineNetworkIn } from "../../../src/machine/describe-machine.js";
import { readCpuTopology, readHardware } from "../../../src/machine/hardware.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

/** A root with these files, by path. */
function rootOf(files: Readonly<Record<string, string>>): string {
  const root = newFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const CPU = "sys/devices/system/cpu";

/** @param siblings the threads of the core of each CPU, by CPU */
const cores = (online: string, ...siblings: string[]) => ({
  [`${CPU}/online`]: `${online}\n`,
  ...Object.fromEntries(
    siblings.map((list, cpu) => [`${CPU}/cpu${cpu}/topology/thread_siblings_list`, `${list}\n`]),
  ),
});
const cache = (index: number, level: number, type: string, size: string, cpus: string) =>
  Object.fromEntries(
    Object.entries({ level, type, size, shared_cpu_list: cpus }).map(([name, value]) => [
      `${CPU}/cpu0/cache/index${index}/${name}`,
      `${value}\n`,
    ]),
  );
const flags = (...named: string[]) => ({
  "proc/cpuinfo": `processor\t: 0\nflags\t\t: fpu ${named.join(" ")} sse\nbugs\t\t: hypervisor\n`,
});
const node = (number: number, cpus: string) => ({
  [`sys/devices/system/node/node${number}/cpulist`]: `${cpus}\n`,
});

test("a machine with SMT whose threads are numbered after all cores, with two NUMA nodes", () => {
  const pairs = ["0,4", "1,5", "2,6", "3,7"];
  const root = rootOf({
    ...cores("0-7", ...pairs, ...pairs),
    // Not a CPU, and not a node.
    [`${CPU}/cpufreq/topology/thread_siblings_list`]: "9\n",
    "sys/devices/system/node/online": "0-10\n",
    ...cache(0, 1, "Data", "32K", "0,4"),
    ...cache(1, 1, "Instruction", "64K", "0,4"),
    ...cache(2, 2, "Unified", "1M", "0,4"),
    ...cache(10, 3, "Unified", "32768K", "0-1,4-5"),
    ...node(0, "0-1,4-5"),
    ...node(2, ""),
    ...node(10, "2-3,6-7"),
    ...flags("ht"),
  });
  expect(readHardware(root)).toEqual({
    smt: true,
    siblings: pairs,
    caches: [
      { level: 1, type: "Data", size_bytes: 32_768, cpus: "0,4" },
      { level: 1, type: "Instruction", size_bytes: 65_536, cpus: "0,4" },
      { level: 2, type: "Unified", size_bytes: 1024 ** 2, cpus: "0,4" },
      { level: 3, type: "Unified", size_bytes: 32 * 1024 ** 2, cpus: "0-1,4-5" },
    ],
    numa_nodes: ["0-1,4-5", "2-3,6-7"],
    hypervisor: "none",
  });
});

test("CPUs that are switched off are no cores, and without SMT no core has two threads", () => {
  const root = rootOf(cores("0,2-3", "0", "1", "2", "3"));
  expect(readHardware(root)).toEqual({ smt: false, siblings: ["0", "2", "3"] });
});

test.each([
  [{ ...flags("hypervisor") }, "unknown kind"],
  [{ ...flags("hypervisor"), "sys/hypervisor/type": "xen\n" }, "xen"],
  [
    {
      ...flags("hypervisor"),
      "sys/class/dmi/id/sys_vendor": "Amazon EC2\n",
      "sys/class/dmi/id/product_name": "m7i.large\n",
    },
    "Amazon EC2 m7i.large",
  ],
  // The maker of a real machine is no hypervisor.
  [{ ...flags("ht"), "sys/class/dmi/id/sys_vendor": "Dell Inc.\n" }, "none"],
  [
    { "proc/cpuinfo": "Features\t: fp asimd\n", "sys/class/dmi/id/sys_vendor": "QEMU\n" },
    undefined,
  ],
  [{ "proc/cpuinfo": "Features\t: fp asimd\n", "sys/hypervisor/type": "xen\n" }, "xen"],
])("the hypervisor of %j is %s", (files: Record<string, string>, expected) => {
  expect(readHardware(rootOf(files)).hypervisor).toBe(expected);
});

test("where nothing is reported, as on macOS, nothing is claimed", () => {
  expect(readHardware(rootOf({}))).toEqual({});
  expect(readCpuTopology(rootOf({}))).toEqual({});
});

const HEAD = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`;

test("a machine's network is that of the links that lead out", () => {
  const text = `${HEAD}    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0
  eth0: 1000 2 0 0 0 0 0 0 200 3 0 0 0 0 0 0
enp3s0:50 2 0 0 0 0 0 0 7 3 0 0 0 0 0 0
docker0: 5 2 0 0 0 0 0 0 5 3 0 0 0 0 0 0
vethab12: 5 2 0 0 0 0 0 0 5 3 0 0 0 0 0 0
`;
  expect(machineNetworkIn(text)).toEqual({ received_bytes: 1050, sent_bytes: 207 });
  expect(machineNetworkIn(`${HEAD}    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n`)).toBeUndefined();
});

/** Two CPUs of a virtual machine, as its kernel wrote it; interrupts are not measured. */
const RECORDED = `cpu  24678 12 6475 92056 954 0 230 324 400 0
cpu0 12291 6 3117 46189 553 0 59 168 200 0
cpu1 12386 6 3358 45866 401 0 170 156 200 0
intr 746512 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
ctxt 1284460
btime 1795297800
processes 18068
procs_running 2
procs_blocked 0
softirq 402120 0 57005 7 93022 28001 0 3 112025 10 112047
`;

describe("the CPU time of the system", () => {
  test("is read from /proc/stat: waiting for a disk is idle time, guest time is part of user time", () => {
    expect(hostCpuOf(RECORDED, 5)).toEqual({
      at_ms: 5,
      cpus: 2,
      idle_us: (92_056 + 954) * 10_000,
      stolen_us: 3_240_000,
      interrupts_us: 0,
      accounted_us: (24_678 + 12 + 6_475 + 92_056 + 954 + 230 + 324) * 10_000,
    });
  });

  test.each([
    "",
    "cpu  1 2 3\ncpu0 1 2 3\n",
    "cpu  a b c d e f g h\ncpu0 1\n",
    "cpu  1 2 3 4 5 6 7 8\n",
  ])("is not known of %j", (text) => {
    expect(hostCpuOf(text, 5)).toBeUndefined();
  });
});

const start: HostCpu = {
  at_ms: 1_000,
  cpus: 2,
  idle_us: 50_000_000,
  stolen_us: 1_000_000,
  interrupts_us: 0,
  accounted_us: 100_000_000,
};

/**
 * After so many seconds, with so many microseconds of each kind; the rest of both CPUs' time was
 * busy.
 */
function reading(seconds: number, { idle_us = 0, stolen_us = 0, interrupts_us = 0 }): HostCpu {
  return {
    at_ms: start.at_ms + 1000 * seconds,
    cpus: 2,
    idle_us: start.idle_us + idle_us,
    stolen_us: start.stolen_us + stolen_us,
    interrupts_us: start.interrupts_us + interrupts_us,
    accounted_us: start.accounted_us + 2e6 * seconds,
  };
}

describe("foreign CPU", () => {
  test("is the busy time of all CPUs less ours and less stolen time, in % of one CPU", () => {
    // 20 s of CPU time in 10 s: 8 idle, 1 stolen, 11 busy, 9 of them ours.
    const end = reading(10, { idle_us: 8_000_000, stolen_us: 1_000_000 });
    expect(foreignCpuPercent(start, end, 9_000_000)).toBeCloseTo(20);
  });

  test("excludes measured interrupts, since our own traffic causes most of them", () => {
    const end = reading(10, { idle_us: 8_000_000, interrupts_us: 3_000_000 });
    expect(foreignCpuPercent(start, end, 9_000_000)).toBeCloseTo(0);
  });

  test("is unknown where the system counts no time, or lost a CPU", () => {
    const silent = { ...reading(10, {}), accounted_us: start.accounted_us };
    expect(foreignCpuPercent(start, silent, 0)).toBeUndefined();
    expect(foreignCpuPercent(start, { ...reading(10, {}), cpus: 1 }, 0)).toBeUndefined();
    expect(foreignCpuPercent(start, start, 0)).toBeUndefined();
  });
});

test("the load of a host is that of the window: idle time just before and after it does not dilute it", () => {
  // A window of 4 s and 1 s of pauses. Ours: 1.5 CPUs in the window. Others: half a CPU all the
  // time.
  const end = reading(5, { idle_us: 10_000_000 - 6_000_000 - 2_500_000 });
  const load = { cpus: 2, busy_cpu_percent: 200, foreign_cpu_percent: 50 };
  expect(hostLoadOf(start, end, 6_000_000, 4)).toEqual(load);
});
