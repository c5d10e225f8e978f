import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  cpuBetween,
  readRunDelays,
  runDelayBetween,
  threadTimesOf,
} from "../../../src/runtimes/run-delay.js";

describe("the run delay of threads", () => {
  test("is the second of the kernel's three figures, in nanoseconds, and CPU time the first", () => {
    expect(threadTimesOf("7102231 291094 12\n")).toEqual({ cpu_us: 7102.231, delay_us: 291.094 });
  });

  test.each(["", "0\n", "x y z"])("is not known of %j", (text) => {
    expect(threadTimesOf(text)).toBeUndefined();
  });

  test("grows by the waiting time of each thread, including new ones, and does not shrink when one ends", () => {
    const times = (delays: Record<string, number>) =>
      new Map(Object.entries(delays).map(([id, delay_us]) => [id, { cpu_us: 2 * delay_us, delay_us }]));
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
