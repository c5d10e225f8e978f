import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { readRunDelays, runDelayBetween, runDelayUs } from "../../../src/runtimes/run-delay.js";

describe("the run delay of threads", () => {
  test("is the second figure of the kernel's three, nanoseconds there", () => {
    expect(runDelayUs("7102231 291094 12\n")).toBe(291.094);
  });

  test.each(["", "0\n", "x y z"])("is not known of %j", (text) => {
    expect(runDelayUs(text)).toBeUndefined();
  });

  test("grows by what each thread waited, by all of a new one, and never shrinks for one that ended", () => {
    const before = new Map(Object.entries({ main: 1_000, pool: 90_000, ends: 500_000 }));
    const after = new Map(Object.entries({ main: 4_000, pool: 90_000, begins: 700 }));
    expect(runDelayBetween(before, after)).toBe(3_700);
  });

  test("is that of the new thread where an id was given again", () => {
    expect(runDelayBetween(new Map([["7", 500_000]]), new Map([["7", 40]]))).toBe(40);
  });

  test("of processes that are gone is not known", async () => {
    const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    await once(child, "exit");
    expect(await readRunDelays([child.pid ?? 0])).toBeUndefined();
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
