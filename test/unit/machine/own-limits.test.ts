import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readOwnLimits, readOwnThrottling, usableCpus } from "../../../src/machine/own-limits.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { programOnPath } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

/** A root folder with these files. */
function rootWith(files: Readonly<Record<string, string>>): string {
  const root = newFolder();
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${text}\n`);
  }
  return root;
}

const STATUS = { "proc/self/status": "Name:\tnode\nCpus_allowed:\t5\nCpus_allowed_list:\t0,2" };
const STAT = "nr_periods 200\nnr_throttled 80";

test("version 2 of control groups has the tightest limits of all that lie above the process [R-limits-1]", () => {
  const group = "sys/fs/cgroup/user.slice/mine";
  const root = rootWith({
    ...STATUS,
    "proc/self/cgroup": "0::/user.slice/mine",
    [`${group}/cpu.max`]: "max 100000",
    [`${group}/cpu.stat`]: "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0",
    [`${group}/memory.max`]: "2147483648",
    "sys/fs/cgroup/user.slice/cpu.max": "50000 100000",
    "sys/fs/cgroup/user.slice/cpu.stat": `usage_usec 9\n${STAT}\nthrottled_usec 4000000`,
    "sys/fs/cgroup/user.slice/memory.max": "max",
  });
  const limits = readOwnLimits(root);
  expect(limits).toEqual({ cpus_allowed: 2, cpu_quota: 0.5, memory_limit_bytes: 2_147_483_648 });
  expect(usableCpus(limits)).toBe(0.5);
  const throttling = { periods: 200, throttled_periods: 80, throttled_us: 4_000_000 };
  expect(readOwnThrottling(root)).toEqual(throttling);
});

test("version 1 of control groups has files of its own, and counts nanoseconds", () => {
  const cpu = "sys/fs/cgroup/cpu/docker/abc";
  const root = rootWith({
    ...STATUS,
    "proc/self/cgroup": "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/elsewhere",
    [`${cpu}/cpu.cfs_quota_us`]: "150000",
    [`${cpu}/cpu.cfs_period_us`]: "100000",
    [`${cpu}/cpu.stat`]: `${STAT}\nthrottled_time 4000000000`,
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
    "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "9223372036854771712",
  });
  expect(readOwnLimits(root)).toEqual({ cpus_allowed: 2, cpu_quota: 1.5 });
  expect(readOwnThrottling(root)?.throttled_us).toBe(4_000_000);
});

test("in a container the mounted root is its own group, although its path is that of the host", () => {
  const root = rootWith({
    ...STATUS,
    "proc/self/cgroup": "3:cpu:/docker/abc",
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000",
    "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
  });
  expect(readOwnLimits(root).cpu_quota).toBe(0.5);
});

test("without control groups all CPUs of the affinity are allowed, and nothing is throttled", () => {
  const root = rootWith(STATUS);
  expect(readOwnLimits(root)).toEqual({ cpus_allowed: 2 });
  expect(readOwnThrottling(root)).toBeUndefined();
});

test.skipIf(programOnPath("taskset") === undefined)(
  "an affinity narrows the CPUs of a process",
  () => {
    const status = ["-c", "0", "cat", "/proc/self/status"];
    const { stdout } = spawnSync("taskset", status, { encoding: "utf8" });
    expect(readOwnLimits(rootWith({ "proc/self/status": stdout })).cpus_allowed).toBe(1);
  },
);
