import { describe, expect, test } from "vitest";
import { foreignCpuPercent, type HostCpu, hostCpuOf, hostLoadOf } from "../../../src/machine/cpu-time.js";

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

  test.each(["", "cpu  1 2 3\ncpu0 1 2 3\n", "cpu  a b c d e f g h\ncpu0 1\n", "cpu  1 2 3 4 5 6 7 8\n"])(
    "is not known of %j",
    (text) => {
      expect(hostCpuOf(text, 5)).toBeUndefined();
    },
  );
});

const start: HostCpu = {
  at_ms: 1_000,
  cpus: 2,
  idle_us: 50_000_000,
  stolen_us: 1_000_000,
  interrupts_us: 0,
  accounted_us: 100_000_000,
};

/** After so many seconds, with so many microseconds of each kind; the rest of both CPUs' time was busy. */
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
  // A window of 4 s and 1 s of pauses. Ours: 1.5 CPUs in the window. Others: half a CPU all the time.
  const end = reading(5, { idle_us: 10_000_000 - 6_000_000 - 2_500_000 });
  expect(hostLoadOf(start, end, 6_000_000, 4)).toEqual({
    cpus: 2,
    busy_cpu_percent: 200,
    foreign_cpu_percent: 50,
  });
});
