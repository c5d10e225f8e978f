import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { readRunDelays, runDelayBetween, runDelayUs } from "../../../src/runtimes/run-delay.js";

describe("the run delay of threads", () => {
  test("is the second of the kernel's three figures, in nanoseconds", () => {
    expect(runDelayUs("7102231 291094 12\n")).toBe(291.094);
  });

  test.each(["", "0\n", "x y z"])("is not known of %j", (text) => {
    expect(runDelayUs(text)).toBeUndefined();
  });

  test("grows by the waiting time of each thread, including new ones, and does not shrink when one ends", () => {
    const before = new Map(Object.entries({ main: 1_000, pool: 90_000, ends: 500_000 }));
    const after = new Map(Object.entries({ main: 4_000, pool: 90_000, begins: 700 }));
    expect(runDelayBetween(before, after)).toBe(3_700);
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
