import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lease } from "../../../../src/orchestrator/ownership/lease.js";
import { leaseSchema } from "../../../../src/orchestrator/ownership/state-folder.js";
import { startTimeOf } from "../../../../src/runtimes/processes.js";
import { deferred, FakeRuntime, partOf } from "../../../helpers/fake-runtime.js";
import { ownStateFolder, temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
const newState = ownStateFolder(newFolder);
let runtime: FakeRuntime;
let lease: Lease;
let leases: string;
let workFolder: string;

beforeEach(async () => {
  vi.stubEnv("TMPDIR", newFolder());
  leases = join(newState(), "leases");
  runtime = new FakeRuntime();
  lease = await Lease.open("20260101_000000");
  await lease.update({ runtime: "fake" });
  workFolder = lease.workFolder;
});

afterEach(() => {
  vi.unstubAllEnvs();
});

const start = (role: string) => lease.start(runtime, partOf(role));
const written = () => {
  const [name = "missing"] = readdirSync(leases);
  return leaseSchema.parse(JSON.parse(readFileSync(join(leases, name), "utf8")));
};

test("everything is stopped in reverse order, and the work folder and the lease's file are removed", async () => {
  for (const role of ["store-1", "server", "generator"]) await start(role);
  await lease.close();
  expect(runtime.calls.slice(3)).toEqual(["stop generator", "stop server", "stop store-1"]);
  expect(readdirSync(leases)).toEqual([]);
  expect(existsSync(workFolder)).toBe(false);
});

test("the file always lists what is running, also when parts start in parallel", async () => {
  const roles = ["store-1", "store-2", "store-3", "store-4", "store-5", "store-6"];
  const parts = await Promise.all(roles.map(start));
  expect(written().processes).toEqual(parts.map(({ process }) => process));
  await lease.release(parts.slice(0, 4));
  expect(written()).toMatchObject({
    runtime: "fake",
    workFolder,
    owner: { pid: process.pid, campaign: "20260101_000000" },
    processes: parts.slice(4).map(({ process }) => process),
  });
  expect(readdirSync(leases)).toHaveLength(1);
});

test("a part that is not ready yet is in the file, so that a killed campaign leaves no orphan", async () => {
  const ready = deferred();
  runtime.whileStarting.set("server", () => ready.promise);
  const starting = start("server");
  await expect.poll(() => written().processes.length).toBe(1);
  ready.release();
  await starting;
});

test("a part that fails to become ready is stopped and leaves the lease", async () => {
  runtime.whileStarting.set("server", () => Promise.reject(new Error("no answer")));
  await expect(start("server")).rejects.toThrow("no answer");
  expect(runtime.alive.size).toBe(0);
  expect(written().processes).toEqual([]);
});

test("when one part cannot be stopped the others are, and the error and the file name it [R-clean-up-2]", async () => {
  for (const role of ["store-1", "server", "generator"]) await start(role);
  runtime.unstoppable.add("server");
  await expect(lease.close()).rejects.toThrow(/could not be stopped: server: it does not listen/);
  expect([...runtime.alive]).toEqual(["server"]);
  // The next start needs the file to end it.
  expect(written().processes.length).toBeGreaterThan(0);
});

test("a part that starts while everything is being stopped is stopped before that ends", async () => {
  const begin = deferred();
  runtime.beforeStart.set("server", () => begin.promise);
  const starting = start("server").catch((error: Error) => error);
  let closed = false;
  const closing = lease.close().then(() => {
    closed = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(closed).toBe(false);
  begin.release();
  await closing;
  expect(runtime.alive.size).toBe(0);
  expect(await starting).toBeInstanceOf(Error);
  expect(readdirSync(leases)).toEqual([]);
});

test("nothing starts after everything was stopped", async () => {
  await lease.close();
  await expect(start("server")).rejects.toThrow(/started too late/);
  expect(runtime.calls).toEqual([]);
});

test("a helper process is in the file, an ended process is not", async () => {
  await lease.holdProcess(process.pid);
  await lease.holdProcess(4_999_999);
  expect(written().processes.map(({ pid }) => pid)).toEqual([process.pid]);
});

test("a part that was killed is owned again when it is restarted, and stays down once everything is being stopped", async () => {
  const part = await start("store-1");
  await part.kill?.();
  await lease.restart(part);
  expect(written().processes).toEqual([part.process]);
  await part.kill?.();
  await lease.releaseAll();
  await expect(lease.restart(part)).rejects.toThrow("stopping");
  expect(runtime.calls.filter((call) => call.startsWith("restart"))).toHaveLength(1);
});

test("a guard is in the file, and neither one that hangs nor one that cannot start holds up the end", async () => {
  const folder = newFolder();
  mkdirSync(join(folder, "dist/orchestrator/ownership"), { recursive: true });
  writeFileSync(
    join(folder, "dist/orchestrator/ownership/guard.js"),
    "setInterval(() => {}, 1000)",
  );
  await lease.startGuard(folder);
  const [guard] = written().processes;
  process.kill(guard?.pid ?? 0, "SIGSTOP");
  await lease.close();
  expect(await startTimeOf(guard?.pid ?? 0)).toBeUndefined();
  const other = await Lease.open("20260101_000001");
  await other.startGuard(join(folder, "missing"));
  await other.close();
  expect(readdirSync(leases)).toEqual([]);
});
