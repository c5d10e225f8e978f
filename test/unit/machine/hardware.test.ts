import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
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
const flags = (...own: string[]) => ({
  "proc/cpuinfo": `processor\t: 0\nflags\t\t: fpu ${own.join(" ")} sse\nbugs\t\t: hypervisor\n`,
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
  [{ "proc/cpuinfo": "Features\t: fp asimd\n", "sys/class/dmi/id/sys_vendor": "QEMU\n" }, undefined],
  [{ "proc/cpuinfo": "Features\t: fp asimd\n", "sys/hypervisor/type": "xen\n" }, "xen"],
])("the hypervisor of %j is %s", (files: Record<string, string>, expected) => {
  expect(readHardware(rootOf(files)).hypervisor).toBe(expected);
});

test("of the machine's own id only a hash is told, the same each time", () => {
  const id = (text: string) => readHardware(rootOf({ "etc/machine-id": text })).machine_id;
  const own = "0123456789abcdef0123456789abcdef";
  expect(id(`${own}\n`)).toMatch(/^[0-9a-f]{16}$/);
  expect(id(`${own}\n`)).toBe(id(own));
  expect(id(own)).not.toBe(id(own.replace("0", "1")));
  expect(own).not.toContain(id(own));
  for (const none of ["", "uninitialized\n", "x"]) expect(id(none)).toBeUndefined();
});

test("where nothing is reported, as on macOS, nothing is claimed", () => {
  expect(readHardware(rootOf({}))).toEqual({});
  expect(readCpuTopology(rootOf({}))).toEqual({});
});
