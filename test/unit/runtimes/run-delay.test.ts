import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { EarlierCounters } from "../../../src/runtimes/earlier-counters.js";
import { countersIn } from "../../../src/runtimes/kubernetes/pod-counters.js";
import {
  cpuBetween,
  FineCpuTime,
  readRunDelays,
  runDelayBetween,
  threadTimesOf,
} from "../../../src/runtimes/run-delay.js";

const NETWORK = `== /proc/net/dev
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0
  eth0: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0
`;

test("counters of control groups of version 2 are read from one folder", () => {
  const printed = `== /sys/fs/cgroup/cpu.stat
usage_usec 1500
nr_periods 10
nr_throttled 2
throttled_usec 300
== /sys/fs/cgroup/memory.stat
inactive_file 24
== /sys/fs/cgroup/memory.current
1024
${NETWORK}`;
  expect(countersIn(printed, true)).toEqual({
    cpu_us: 1500,
    resident_bytes: 1000,
    throttling: { periods: 10, throttled_periods: 2, throttled_us: 300 },
    network: { received_bytes: 100, sent_bytes: 200 },
  });
});

test("those of version 1 from a folder each; bytes of a network that is the node's are not the pod's", () => {
  const printed = `== /sys/fs/cgroup/cpuacct/cpuacct.usage
1500000
== /sys/fs/cgroup/cpu/cpu.stat
nr_periods 0
== /sys/fs/cgroup/memory/memory.stat
total_inactive_file 24
== /sys/fs/cgroup/memory/memory.usage_in_bytes
1024
${NETWORK}`;
  expect(countersIn(printed, false)).toEqual({ cpu_us: 1500, resident_bytes: 1000 });
});

const network = (bytes: number) => ({ received_bytes: bytes, sent_bytes: 2 * bytes });

test("counters go on over restarts, where those of each process begin at 0; memory is that of the last", () => {
  const earlier = new EarlierCounters();
  expect(earlier.plus({ cpu_us: 5, resident_bytes: 100 })).toEqual({
    cpu_us: 5,
    resident_bytes: 100,
  });
  earlier.keep({ cpu_us: 10, resident_bytes: 100, network: network(3) });
  earlier.keep({ cpu_us: 20, resident_bytes: 100, network: network(4) });
  expect(earlier.plus({ cpu_us: 1, resident_bytes: 50, network: network(1) })).toEqual({
    cpu_us: 31,
    resident_bytes: 50,
    network: network(8),
  });
});

describe("the run delay of threads", () => {
  test("is the second of the kernel's three figures, in nanoseconds, and CPU time the first", () => {
    expect(threadTimesOf("7102231 291094 12\n")).toEqual({ cpu_us: 7102.231, delay_us: 291.094 });
  });

  test.each(["", "0\n", "x y z"])("is not known of %j", (text) => {
    expect(threadTimesOf(text)).toBeUndefined();
  });

  test("grows by the waiting time of each thread, including new ones, and does not shrink when one ends", () => {
    const times = (delays: Record<string, number>) =>
      new Map(
        Object.entries(delays).map(([id, delay_us]) => [id, { cpu_us: 2 * delay_us, delay_us }]),
      );
    const before = times({ main: 1_000, pool: 90_000, ends: 500_000 });
    const after = times({ main: 4_000, pool: 90_000, begins: 700 });
    expect(runDelayBetween(before, after)).toBe(3_700);
    expect(cpuBetween(before, after)).toBe(7_400);
  });

  test.skipIf(process.platform !== "linux")("is read of all threads of a process", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); console.log(1)"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const delays = await readRunDelays([child.pid ?? 0]);
    expect(delays?.has(String(child.pid))).toBe(true);
    expect(delays?.size).toBeGreaterThan(1);
  });
});

describe("the CPU time of a process as a counter", () => {
  const threads = (cpu_us: Record<string, number>) =>
    new Map(Object.entries(cpu_us).map(([id, us]) => [id, { cpu_us: us, delay_us: 0 }]));

  test("grows with that of its threads, between the ticks of the system's counter", () => {
    const time = new FineCpuTime();
    const before_us = time.at(20_000, threads({ a: 15_000, b: 6_000 }));
    expect(time.at(20_000, threads({ a: 15_250, b: 6_000 })) - before_us).toBe(250);
  });

  test("counts threads that ended before the first reading, and never falls", () => {
    const time = new FineCpuTime();
    const before_us = time.at(90_000, threads({ a: 15_000, b: 6_000 }));
    expect(before_us).toBe(90_000);
    const after_us = time.at(90_000, threads({ a: 15_100 }));
    expect(after_us - before_us).toBe(100);
  });

  test("is the system's counter where threads are not known", () => {
    const time = new FineCpuTime();
    expect(time.at(30_000, undefined)).toBe(30_000);
    expect(time.at(40_000, undefined)).toBe(40_000);
  });
});
