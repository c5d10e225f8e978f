import { tmpdir } from "node:os";
import { afterEach, describe, expect, test, vi } from "vitest";
import { stateFolder } from "../../../../src/orchestrator/ownership/state-folder.js";
import {
  diskBytes,
  diskReason,
  estimateCampaignS,
  filesReason,
  learnOverheads,
  openFilesNeeded,
  overheadsOf,
} from "../../../../src/orchestrator/plan/estimate.js";
import { ownStateFolder, temporaryFolders } from "../../../helpers/folders.js";
import { planFor } from "../../../helpers/request.js";

const ownFolder = ownStateFolder(temporaryFolders());
const overheads = { none: 1, standalone: 2, cluster: 7 };
const short = ["--duration-mode", "custom:10", "--warmup", "3", "--concurrency", "50"];

describe("the estimate", () => {
  const plan = (...flags: string[]) => planFor(...short, ...flags);

  test("adds up warm-up, window, starting and stopping of every run, with a pause between two", () => {
    const seconds = (runs: string) =>
      estimateCampaignS(plan("--cooldown", "2", "--runs", runs), overheads);
    expect(seconds("3") - seconds("2")).toBeCloseTo(3 + 10 + 2 + 2);
    expect(seconds("1")).toBeCloseTo(3 + 10 + 2 + 4);
  });

  test("expects 5.5 s of an automatic warm-up, of an open loop 9 s, and by turns 1.5 s of each target", () => {
    const seconds = (...flags: string[]) =>
      estimateCampaignS(plan("--warmup", "auto", "--runs", "1", ...flags), overheads);
    expect(seconds()).toBeCloseTo(5.5 + 10 + 2 + 4);
    expect(seconds("--rate", "1000")).toBeCloseTo(9 + 10 + 2 + 4);
    const byTurns = ["--clients", "iovalkey,ioredis", "--order", "turns"];
    expect(seconds(...byTurns) - seconds(...byTurns, "--warmup", "1.5")).toBeCloseTo(0);
  });

  test.each([
    ["server", "1", "1"],
    ["limiter", "3", "4"],
    ["limiter", "6", "6"],
  ])(
    "of eight slices at the %s layer at least: %s s last %s s, and the plan says so",
    (layer, asked, made) => {
      const planned = (seconds: string) =>
        planFor(
          "--layer",
          layer,
          "--duration-mode",
          `custom:${seconds}`,
          "--warmup",
          "1",
          "--runs",
          "1",
          "--clients",
          "iovalkey,ioredis",
          "--concurrency",
          "1",
        );
      expect(planned(asked).order).toBe("turns");
      expect(estimateCampaignS(planned(asked), overheads)).toBeCloseTo(
        estimateCampaignS(planned(made), overheads),
      );
      const said = planned(asked).notes.filter((note) => note.includes("fewer than 8 slices"));
      expect(said).toHaveLength(asked === made ? 0 : 1);
      expect(said.join("")).toContain(asked === made ? "" : `each target gets ${made} s`);
    },
  );

  test("has longer pauses between clients only in consecutive order", () => {
    const flags = ["--clients", "iovalkey,ioredis", "--runs", "2", "--cooldown", "1,9"];
    const seconds = (order: string) =>
      estimateCampaignS(plan(...flags, "--order", order), overheads);
    expect(seconds("consecutive") - seconds("interleaved")).toBeCloseTo(9 - 1);
  });
});

test("what runs took on this machine is saved by runtime and topology, and used as a median", async () => {
  const [planned] = planFor(...short).configurations;
  const configuration = planned?.configuration;
  if (!configuration) throw new Error("nothing is planned");
  const took = (...seconds: number[]) => seconds.map((each) => ({ configuration, seconds: each }));
  ownFolder();
  const before = await overheadsOf("local");
  await learnOverheads(
    "local",
    { warmup_s: 3, order: "interleaved" },
    took(13 + 5, 13 + 50, 13 + 6),
  );
  expect(await overheadsOf("local")).toEqual({ ...before, standalone: 6 });
  expect((await overheadsOf("docker")).standalone).not.toBe(6);
});

afterEach(() => vi.unstubAllEnvs());

const plan = (...flags: string[]) => planFor("--concurrency", "500", "--no-copy", ...flags);

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
