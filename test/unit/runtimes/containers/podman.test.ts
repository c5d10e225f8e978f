import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { PODMAN_SERVICE } from "../../../../src/runtimes/containers/podman.js";
import { orphanedServices, startTimeOf } from "../../../../src/runtimes/processes.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
let folder: string;
beforeEach(() => {
  vi.stubEnv("TMPDIR", newFolder());
  folder = join(process.env.TMPDIR ?? "", "ratelimit-bench-podman-a1b2c3");
  mkdirSync(folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** A service that listens to nobody, and the note that tells whose it is. */
async function service(owner: { pid: number; started: string }): Promise<number> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
    detached: true,
    stdio: "ignore",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const pid = child.pid ?? 0;
  const note = { owner, service: { pid, started: await startTimeOf(pid) } };
  writeFileSync(join(folder, "service.json"), JSON.stringify(note));
  return pid;
}

const isAlive = async ({ started }: { started: string }) => started !== "1";

test("a service with a dead owner is listed, and removed with its folder", async () => {
  const pid = await service({ pid: process.pid, started: "1" });
  const [left, ...more] = await orphanedServices(PODMAN_SERVICE, isAlive);
  expect(more).toEqual([]);
  expect(left?.what).toContain(folder);
  expect(await startTimeOf(pid)).toBeDefined();
  await left?.remove();
  expect(await startTimeOf(pid)).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
});

test("a service with a living owner is not touched, nor a folder without an owner", async () => {
  mkdirSync(join(folder, "..", "ratelimit-bench-podman-other"));
  const pid = await service({ pid: process.pid, started: "2" });
  expect(await orphanedServices(PODMAN_SERVICE, isAlive)).toEqual([]);
  expect(await startTimeOf(pid)).toBeDefined();
});
