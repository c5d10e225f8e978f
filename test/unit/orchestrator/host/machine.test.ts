import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  ForeignLoadCheck,
  foreignWarning,
} from "../../../../src/orchestrator/host/foreign-load.js";
import { gitRevision } from "../../../../src/orchestrator/host/machine.js";
import type { EngineProperties } from "../../../../src/runtimes/runtime-types.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();

test("a package inside another checkout does not claim its revision", async () => {
  const folder = newFolder();
  expect(await gitRevision(folder)).toBeUndefined();
  const git = (...parameters: string[]) =>
    execFileSync(
      "git",
      ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c", ...parameters],
      {
        encoding: "utf8",
      },
    ).trim();
  git("init", "--quiet");
  writeFileSync(join(folder, "file"), "1");
  git("add", ".");
  git("commit", "--quiet", "--message", "first");
  const head = git("rev-parse", "HEAD");
  expect(await gitRevision(folder)).toBe(head);
  writeFileSync(join(folder, "file"), "2");
  expect(await gitRevision(folder)).toBe(`${head} with changes`);
  const inside = join(folder, "node_modules", "ratelimit-bench");
  mkdirSync(inside, { recursive: true });
  expect(await gitRevision(inside)).toBeUndefined();
});

describe("what other programs use before the first run", () => {
  test("is a warning from a tenth of one CPU on, by turns from half of all CPUs on", () => {
    expect(foreignWarning(9.9, 2, false)).toBeUndefined();
    expect(foreignWarning(99, 2, true)).toBeUndefined();
    expect(foreignWarning(100, 2, true)).toContain("1.0 of this machine's 2 CPUs");
    expect(foreignWarning(188, 2, false)).toBe(
      "Other programs use 1.9 of this machine's 2 CPUs: runs will be suspect (M25)",
    );
    expect(foreignWarning(10, 1, false)).toBe(
      "Other programs use 0.1 of this machine's one CPU: runs will be suspect (M25)",
    );
  });

  test("is ignored where the engine runs on another machine", async () => {
    const check = new ForeignLoadCheck();
    check.start();
    const engine = { kernel: `${release()}-of-another` } as EngineProperties;
    expect(await check.warning({ engine }, false, new AbortController().signal)).toBeUndefined();
  });

  test("does not delay an interruption", async () => {
    const controller = new AbortController();
    const check = new ForeignLoadCheck();
    check.start();
    controller.abort(new Error("stopped"));
    // Where the system tells nothing there is nothing to wait for.
    if (process.platform === "linux")
      await expect(check.warning({}, false, controller.signal)).rejects.toThrow("stopped");
  });
});
