import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../../src/contract/errors.js";
import {
  leasesFolder,
  reclaimOrphans,
  stateFolder,
  takeLock,
  thisOwner,
} from "../../../src/orchestrator/state.js";
import { startTimeOf } from "../../../src/runtimes/process-identity.js";
import { expectFailure } from "../../helpers/errors.js";
import { ownStateFolder, temporaryFolders } from "../../helpers/folders.js";

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

/** Somebody who once had this process id. */
const dead = { pid: process.pid, started: "1", campaign: "20200101_000000" };

describe("the lock", () => {
  test("is held by one campaign: a second one is told whose it is", async () => {
    const release = await takeLock("20260101_000000");
    await expectFailure(
      () => takeLock("20260101_000001"),
      EXIT.environment,
      "campaign 20260101_000000 is running",
      `process ${process.pid}`,
      "--allow-parallel",
    );
    await release();
    await (await takeLock("20260101_000002"))();
  });

  test("is held by one of many that come at once", async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => takeLock(`c${n}`)));
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test.each([
    ["of a dead owner", JSON.stringify(dead)],
    ["that is cut off", '{"pid": 1, "sta'],
    ["that is empty", ""],
  ])("%s is taken over", async (_what, text) => {
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, "lock.json"), text);
    const release = await takeLock("20260101_000000");
    expect(JSON.parse(readFileSync(join(state, "lock.json"), "utf8"))).toEqual(
      await thisOwner("20260101_000000"),
    );
    await release();
    expect(readdirSync(state)).toEqual([]);
  });

  test("leaves nothing else in the folder, taken or refused", async () => {
    const release = await takeLock("20260101_000000");
    await takeLock("20260101_000001").catch(() => {});
    expect(readdirSync(state)).toEqual(["lock.json"]);
    await release();
    expect(readdirSync(state)).toEqual([]);
  });

  test("of a folder that cannot be is an unfit environment, with what would mend it", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    process.env.XDG_STATE_HOME = join(file, "below");
    await expectFailure(() => takeLock("x"), EXIT.environment, "state folder", "XDG_STATE_HOME");
  });
});

test("the state folder follows the XDG rules: a relative path counts as unset", () => {
  expect(stateFolder()).toBe(state);
  process.env.XDG_STATE_HOME = "relative";
  expect(stateFolder()).toBe(join(homedir(), ".local", "state", "ratelimit-bench"));
});

describe("what a killed campaign left", () => {
  const lease = (owner: object, parts: object[], workFolder: string) => {
    mkdirSync(leasesFolder(), { recursive: true });
    const path = join(leasesFolder(), "20200101_000000-1.json");
    writeFileSync(path, JSON.stringify({ owner, runtime: "local", workFolder, parts }));
    return path;
  };

  test("is ended and removed, and told", async () => {
    const { pid, started, ended } = await sleeper();
    const work = newFolder();
    const folder = join(work, "server-1");
    mkdirSync(folder);
    const path = lease(dead, [{ pid, started, folder }], work);
    expect(await reclaimOrphans()).toEqual([
      "campaign 20200101_000000 had died: ended 1 of its processes, removed its folders",
    ]);
    await ended;
    expect([folder, work, path].filter(existsSync)).toEqual([]);
    expect(await reclaimOrphans()).toEqual([]);
  });

  test("is not mistaken for a process that was given the same id since", async () => {
    const { pid } = await sleeper();
    lease(dead, [{ pid, started: "1", folder: newFolder() }], newFolder());
    expect(await reclaimOrphans()).toEqual([expect.stringContaining("ended 0 of its processes")]);
    expect(await startTimeOf(pid)).toBeDefined();
  });

  test("is left alone as long as its campaign lives", async () => {
    const { pid, started } = await sleeper();
    const work = newFolder();
    const path = lease(await thisOwner("20260101_000000"), [{ pid, started, folder: work }], work);
    expect(await reclaimOrphans()).toEqual([]);
    expect([work, path].every(existsSync)).toBe(true);
    expect(await startTimeOf(pid)).toBe(started);
  });

  test("is left alone when its file cannot be understood", async () => {
    mkdirSync(leasesFolder(), { recursive: true });
    writeFileSync(join(leasesFolder(), "x.json"), '{"owner": {');
    expect(await reclaimOrphans()).toEqual([]);
    expect(readdirSync(leasesFolder())).toEqual(["x.json"]);
  });
});
