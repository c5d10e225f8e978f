import { tmpdir } from "node:os";
import { afterEach, expect, test, vi } from "vitest";
import { stateFolder } from "../../../../src/orchestrator/ownership/state-folder.js";
import { diskBytes } from "../../../../src/orchestrator/plan/estimate.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { diskReason, filesReason, openFilesNeeded } from "../../../../src/orchestrator/plan/room.js";
import { everything, requestOf } from "../../../helpers/request.js";

afterEach(() => vi.unstubAllEnvs());

const plan = (...flags: string[]) =>
  makePlan(requestOf("--concurrency", "500", "--no-copy", ...flags), everything);

test("open files are held against the connections of all targets of a group, and their stores [R-files-1]", () => {
  const three = ["--clients", "iovalkey,ioredis,valkey-glide"];
  const alone = openFilesNeeded(plan(...three, "--order", "interleaved"));
  const together = openFilesNeeded(plan(...three, "--order", "turns"));
  expect(together - alone).toBe(2 * (500 + 1));
  const split = plan(...three, "--order", "interleaved", "--generators", "2");
  expect(alone - openFilesNeeded(split)).toBe(250);
  expect(filesReason(plan(...three), together)).toBeUndefined();
  expect(filesReason(plan(...three), together - 1)).toMatch(/ulimit .*--concurrency/);
});

test("what a plan writes is held against what is free in each folder [R-full-disk-4]", async () => {
  vi.stubEnv("XDG_STATE_HOME", "/state");
  const made = plan("--clients", "iovalkey");
  const needed = diskBytes(made);
  const reason = (full: string, bytes: number) =>
    diskReason(made, "/results", async (folder) => (folder.startsWith(full) ? bytes : needed));
  expect(await reason("/results", needed)).toBeUndefined();
  expect(await reason("/results", needed - 1)).toContain("--output");
  expect(await reason(stateFolder(), 1000)).toContain("XDG_STATE_HOME");
  expect(await reason(tmpdir(), 1000)).toContain("TMPDIR");
});
