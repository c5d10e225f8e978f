import { release } from "node:os";
import { describe, expect, test } from "vitest";
import {
  ForeignLoadCheck,
  foreignWarning,
  processTreeCpuUs,
} from "../../../../src/orchestrator/host/foreign-load.js";
import type { EngineFacts } from "../../../../src/runtimes/types.js";

/** As the kernel wrote it: 14 to 17 are this process in user and system mode, then its children that have ended. */
const RECORDED =
  "812 (node (main) x) S 1 812 812 0 -1 4194304 9999 88888 7 6 153 41 220 35 20 0 11 0 5201 1136394240 15000 18446744073709551615 1 1";

test("before a campaign our CPU time is that of this process and its ended children, whatever its name", () => {
  expect(processTreeCpuUs(RECORDED)).toBe((153 + 41 + 220 + 35) * 10_000);
});

describe("what other programs use before the first run", () => {
  test("is a warning from a tenth of one CPU on", () => {
    expect(foreignWarning(9.9, 2)).toBeUndefined();
    expect(foreignWarning(188, 2)).toBe(
      "Other programs use 1.9 of this machine's 2 CPUs: runs will be suspect (M25)",
    );
    expect(foreignWarning(10, 1)).toBe(
      "Other programs use 0.1 of this machine's one CPU: runs will be suspect (M25)",
    );
  });

  test("is ignored where the engine runs on another machine", async () => {
    const check = new ForeignLoadCheck();
    check.start();
    const engine = { kernel: `${release()}-of-another` } as EngineFacts;
    expect(await check.warning({ engine }, new AbortController().signal)).toBeUndefined();
  });

  test("is measured once per process, and only after a start", async () => {
    const { signal } = new AbortController();
    const check = new ForeignLoadCheck();
    expect(await check.warning({}, signal)).toBeUndefined();
    check.start();
    expect(await check.warning({}, signal)).toBeUndefined();
  });

  test("does not delay an interruption", async () => {
    const controller = new AbortController();
    const check = new ForeignLoadCheck();
    check.start();
    controller.abort(new Error("stopped"));
    // Where the system tells nothing there is nothing to wait for.
    if (process.platform === "linux")
      await expect(check.warning({}, controller.signal)).rejects.toThrow("stopped");
  });
});
