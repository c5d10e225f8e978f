import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  findLeftovers,
  removeEach,
  removeLeftovers,
} from "../../../../src/orchestrator/host/leftovers.js";
import {
  endListed,
  leasesFolder,
  thisOwner,
} from "../../../../src/orchestrator/ownership/state-folder.js";
import { signalProcess, startTimeOf } from "../../../../src/runtimes/processes.js";
import { expectFailure } from "../../../helpers/errors.js";
import { ownStateFolder, temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
const newState = ownStateFolder(newFolder);
let state: string;
beforeEach(() => {
  state = newState();
});

/** A process that does nothing, in a group of its own, as parts are. */
async function sleeper(): Promise<{ pid: number; started: string; ended: Promise<unknown> }> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
    detached: true,
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const pid = child.pid ?? 0;
  return { pid, started: (await startTimeOf(pid)) ?? "", ended };
}

/** A process whose worker is in a group of its own, as a cluster's may be. */
async function forker(): Promise<{ pid: number; worker: number }> {
  const program = `
    const { spawn } = require("node:child_process");
    console.log(spawn("sleep", ["60"], { detached: true, stdio: "ignore" }).pid);`;
  const child = spawn(process.execPath, ["-e", program], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [text] = await once(child.stdout, "data");
  const worker = Number(text);
  onTestFinished(() => {
    child.kill("SIGKILL");
    signalProcess(worker, "SIGKILL");
  });
  return { pid: child.pid ?? 0, worker };
}

/** Somebody who once had this process id. */
const dead = { pid: process.pid, started: "1", campaign: "20200101_000000" };

function work(): string {
  vi.stubEnv("TMPDIR", newFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = join(tmpdir(), "ratelimit-bench-work");
  mkdirSync(folder);
  return folder;
}

function lease(owner: object, processes: object[], workFolder: string): string {
  mkdirSync(leasesFolder(), { recursive: true });
  const path = join(leasesFolder(), "20200101_000000-1.json");
  writeFileSync(path, JSON.stringify({ owner, runtime: "local", workFolder, processes }));
  return path;
}

describe("what a killed campaign left", () => {
  test("is ended and removed, and reported [R-killed-2]", async () => {
    const { pid, started, ended } = await sleeper();
    const workFolder = work();
    const folder = join(workFolder, "server-1");
    mkdirSync(folder);
    const path = lease(dead, [{ pid, started, folder }], workFolder);
    expect(await removeLeftovers()).toEqual([
      expect.stringMatching(`process ${pid} .*20200101_000000`),
      expect.stringContaining(`folder ${workFolder} `),
    ]);
    await ended;
    expect([folder, workFolder, path].filter(existsSync)).toEqual([]);
    expect(await removeLeftovers()).toEqual([]);
  });

  test("is listed without being changed", async () => {
    const { pid, started } = await sleeper();
    const workFolder = work();
    lease(dead, [{ pid, started }], workFolder);
    expect((await findLeftovers(false)).map(({ what }) => what)).toEqual([
      expect.stringContaining(`the process ${pid}`),
      expect.stringContaining(workFolder),
    ]);
    expect(await startTimeOf(pid)).toBe(started);
    expect(existsSync(workFolder)).toBe(true);
  });

  test("is not confused with a new process of the same id [R-killed-4]", async () => {
    const { pid } = await sleeper();
    lease(dead, [{ pid, started: "1" }], work());
    const socket = join(tmpdir(), `glide-socket-${pid}-own`);
    writeFileSync(socket, "");
    expect(await removeLeftovers()).toEqual([expect.stringContaining("removed the folder")]);
    expect(await startTimeOf(pid)).toBeDefined();
    expect(existsSync(socket)).toBe(true);
  });

  test("is ended by the guard, even when it was stopped; somebody else who has its id, and the guard, are not [R-killed-8]", async () => {
    const [stopped, other] = [await sleeper(), await sleeper()];
    process.kill(stopped.pid, "SIGSTOP");
    const itself = { pid: process.pid, started: (await startTimeOf(process.pid)) ?? "" };
    const listed = [itself, { ...other, started: "1" }, stopped].map(({ pid, started }) => ({
      pid,
      started,
    }));
    const path = lease(dead, listed, work());
    await endListed(path);
    await stopped.ended;
    expect(await startTimeOf(other.pid)).toBe(other.started);
    // The next start, or `clean`, needs it for the rest.
    expect(existsSync(path)).toBe(true);
    await endListed(join(state, "none"));
  });

  test("is ended with a worker that has left its group, while that still has its parent", async () => {
    const { pid, worker } = await forker();
    const started = (await startTimeOf(pid)) ?? "";
    await endListed(lease(dead, [{ pid, started }], work()));
    await vi.waitFor(async () => expect(await startTimeOf(worker)).toBeUndefined());
    expect(await startTimeOf(pid)).toBeUndefined();
  });

  test("is left alone as long as its campaign lives [R-killed-3]", async () => {
    const { pid, started } = await sleeper();
    const workFolder = work();
    const path = lease(await thisOwner("20260101_000000"), [{ pid, started }], workFolder);
    expect(await removeLeftovers()).toEqual([]);
    expect([workFolder, path].every(existsSync)).toBe(true);
    expect(await startTimeOf(pid)).toBe(started);
  });

  test.each([
    ["cannot be understood", '{"owner": {'],
    ["names a folder that is not ours", { workFolder: "/home" }],
  ])(
    "is left alone when its file %s, which is named; clean removes that",
    async (_what, content) => {
      const folder = newFolder();
      const path = lease(dead, [], "");
      const text = { owner: dead, runtime: "local", processes: [], ...(content as object), folder };
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(text));
      expect(await removeLeftovers()).toEqual([expect.stringContaining(path)]);
      expect(existsSync(path)).toBe(true);
      expect(await findLeftovers(true)).toContainEqual(
        expect.objectContaining({ what: expect.stringContaining(path) }),
      );
    },
  );

  test("is removed from no other folder than that for temporary files, and through no link", async () => {
    const elsewhere = join(newFolder(), "ratelimit-bench-x");
    mkdirSync(elsewhere);
    const link = `${work()}-link`;
    symlinkSync(elsewhere, link);
    for (const folder of [elsewhere, link]) {
      lease(dead, [], folder);
      await expectFailure(removeLeftovers, EXIT.environment, folder);
      expect(existsSync(folder)).toBe(true);
    }
    // One that has gone hinders nobody.
    const path = lease(dead, [], join(newFolder(), "gone", "ratelimit-bench-x"));
    await removeLeftovers();
    expect(existsSync(path)).toBe(false);
  });

  test("is not touched where its campaign cannot be checked from here, unless its host is given up [R-killed-7]", async () => {
    const { pid, started } = await sleeper();
    const workFolder = work();
    const { place } = await thisOwner("");
    for (const other of [
      { host: "away", boot: "1" },
      { ...place, pid_namespace: "pid:[1]" },
    ]) {
      const path = lease({ ...dead, place: other }, [{ pid, started }], workFolder);
      expect(await removeLeftovers()).toEqual([]);
      await removeEach(await findLeftovers(true, other.host));
      expect(existsSync(path)).toBe(false);
    }
    expect(await startTimeOf(pid)).toBe(started);
    expect(existsSync(workFolder)).toBe(true);
  });

  test("is not touched where its campaign lives here, although this host is given up", async () => {
    const path = lease(await thisOwner("20260101_000000"), [], work());
    writeFileSync(join(state, "lock.json"), JSON.stringify(await thisOwner("20260101_000000")));
    await removeEach(await findLeftovers(true, hostname()));
    expect([path, join(state, "lock.json")].every(existsSync)).toBe(true);
  });

  test("is removed after a restart of the machine", async () => {
    const owner = await thisOwner("20200101_000000");
    const path = lease({ ...owner, place: { ...owner.place, boot: "another" } }, [], work());
    await removeLeftovers();
    expect(existsSync(path)).toBe(false);
  });

  test("is listed as an unfit environment where it cannot be removed, and stays in the lease [R-clean-up-1]", async () => {
    const folder = work();
    rmSync(folder, { recursive: true });
    // A file is no folder of ours.
    writeFileSync(folder, "");
    const path = lease(dead, [], folder);
    const { removed, failed } = await removeEach(await findLeftovers(false));
    expect(removed).toEqual([]);
    expect(failed).toEqual([
      expect.stringMatching(/^the folder .*ratelimit-bench-work of campaign .*not a folder/),
    ]);
    await expectFailure(
      removeLeftovers,
      EXIT.environment,
      "cannot be removed",
      "ratelimit-bench-work",
    );
    expect(existsSync(path)).toBe(true);
  });

  test("includes its lock and unfinished files, but none that is being written", async () => {
    mkdirSync(leasesFolder(), { recursive: true });
    writeFileSync(join(state, "lock.json"), JSON.stringify(dead));
    const [old, fresh] = ["lock.1a.tmp", "lock.2b.tmp"].map((name) => join(state, name));
    for (const path of [old, fresh]) writeFileSync(path ?? "", "");
    utimesSync(old ?? "", 1, 1);
    expect(await removeLeftovers()).toEqual([
      expect.stringContaining("lock"),
      expect.stringContaining(`${old}`),
    ]);
    expect(readdirSync(state).sort()).toEqual(["leases", "lock.2b.tmp"]);
  });
});
