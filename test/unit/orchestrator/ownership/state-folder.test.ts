import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { Lease } from "../../../../src/orchestrator/ownership/lease.js";
import {
  acquireLock,
  leasesFolder,
  refuseIfInUse,
  stateFolder,
  thisOwner,
} from "../../../../src/orchestrator/ownership/state-folder.js";
import { startTimeOf } from "../../../../src/runtimes/processes.js";
import { expectFailure } from "../../../helpers/errors.js";
import { ownStateFolder, temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
const newState = ownStateFolder(newFolder);
let state: string;
afterEach(() => vi.unstubAllEnvs());
beforeEach(() => {
  state = newState();
});

/** Somebody who once had this process id. */
const dead = { pid: process.pid, started: "1", campaign: "20200101_000000" };

describe("the lock", () => {
  test("is held by one campaign: the error of a second one names it", async () => {
    const release = await acquireLock("20260101_000000");
    await expectFailure(
      () => acquireLock("20260101_000001"),
      EXIT.environment,
      "campaign 20260101_000000 is running",
      `process ${process.pid}`,
      "--allow-parallel",
    );
    await release();
    await (await acquireLock("20260101_000002"))();
  });

  test("of a campaign names its folder, once it has one", async () => {
    const release = await acquireLock("20260101_000000");
    const lease = await Lease.open("20260101_000000");
    await lease.update({ folder: "/elsewhere/results/20260101_000000" });
    await expectFailure(
      () => acquireLock("20260101_000001"),
      EXIT.environment,
      "/elsewhere/results/20260101_000000",
    );
    await lease.close();
    await release();
  });

  test("is held by one of many that start at once [R-second-2]", async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => acquireLock(`c${n}`)),
    );
    expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test.each([
    ["of a dead owner", JSON.stringify(dead)],
    ["that is cut off", '{"pid": 1, "sta'],
    ["that is empty", ""],
  ])("%s is replaced", async (_what, text) => {
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, "lock.json"), text);
    const release = await acquireLock("20260101_000000");
    expect(JSON.parse(readFileSync(join(state, "lock.json"), "utf8"))).toEqual(
      await thisOwner("20260101_000000"),
    );
    await release();
    expect(readdirSync(state)).toEqual([]);
  });

  test("in an impossible folder is an unfit environment, with the fix", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    process.env.XDG_STATE_HOME = join(file, "below");
    await expectFailure(() => acquireLock("x"), EXIT.environment, "state folder", "XDG_STATE_HOME");
  });
});

test("the state folder follows the XDG rules: a relative path counts as unset", () => {
  expect(stateFolder()).toBe(state);
  process.env.XDG_STATE_HOME = "relative";
  const home = newFolder();
  vi.stubEnv("HOME", home);
  expect(stateFolder()).toBe(join(home, ".local", "state", "ratelimit-bench"));
});

test("a folder that a live campaign writes to is refused to all others, also in parallel [R-second-3]", async () => {
  const folder = newFolder();
  mkdirSync(leasesFolder(), { recursive: true });
  const write = (owner: object) => {
    const lease = { owner, folder, workFolder: "/tmp/ratelimit-bench-x", processes: [] };
    writeFileSync(join(leasesFolder(), "20260101_000000-1.json"), JSON.stringify(lease));
  };
  const parent = {
    pid: process.ppid,
    started: await startTimeOf(process.ppid),
    campaign: "20260101_000000",
  };
  write(parent);
  await expectFailure(
    () => refuseIfInUse(folder),
    EXIT.environment,
    "campaign 20260101_000000 is running",
  );
  await refuseIfInUse(newFolder());
  write(dead);
  await refuseIfInUse(folder);
});
