import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../../src/contract/manifest.js";
import { campaignReadme } from "../../../../src/orchestrator/campaign/readme.js";
import {
  endSession,
  resumedManifest,
} from "../../../../src/orchestrator/campaign/write-manifest.js";
import { createCampaign } from "../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();
const existing = async (...flags: string[]): Promise<Manifest> =>
  (await createCampaign(newFolder(), "20260101_000000", flags)).manifest;
const at = (text: string): string => `2026-01-01T${text}.123Z`;

/** The campaign goes on, in a session that began then. */
function resumed(before: Manifest, startedAt: string): Manifest {
  const { harness } = before;
  return resumedManifest(before, { ...before, sessions: [{ started_at: startedAt, harness }] });
}

describe("the README of a campaign", () => {
  test("says that it was resumed and is running, and promises no report that does not exist", async () => {
    const first = await existing("--clients", "none", "--runs", "3", "--concurrency", "50");
    const [session] = first.sessions ?? [];
    if (session) session.started_at = at("10:00:00");
    // The first session was killed, the second one interrupted, the third one runs.
    const second = resumed(first, at("11:00:00"));
    endSession(second);
    const [, interrupted] = second.sessions ?? [];
    if (interrupted) interrupted.finished_at = at("11:30:00");
    const third = resumed(second, at("12:00:00"));
    const running = campaignReadme(third);
    expect(running).toMatch(/^Status: running/m);
    const sessions = running.split("\n").filter((line) => line.startsWith("- 2026-01-01 "));
    expect(sessions.map((line) => line.match(/\d\d:\d\d:\d\d/g))).toEqual([
      ["10:00:00"],
      ["11:00:00", "11:30:00"],
      ["12:00:00"],
    ]);
    expect(running).not.toContain("`report/index.html` is");
    third.status = "finished";
    endSession(third);
    const finished = campaignReadme(third);
    expect(finished).toMatch(/^Status: finished/m);
    expect(finished).toContain("`report/index.html` is");
  });

  test("names a command for a checkout, and one for the installed package", async () => {
    const manifest = await existing("--clients", "none", "--concurrency", "50");
    const command = "./scripts/run-all.sh --clients none";
    const text = campaignReadme({ ...manifest, command });
    expect(text).toContain(`\n${command}\n`);
    expect(text).toContain("\nratelimit-bench run --clients none\n");
    const installed = campaignReadme({ ...manifest, command: "ratelimit-bench run --quick" });
    expect(installed).not.toContain("scripts/");
  });

  test.each([
    [
      ["--clients", "none", "--runs", "1"],
      [" 1 run of 1 configuration,", "10 s of warm-up"],
    ],
    [["--clients", "none", "--runs", "2", "--warmup", "2.5"], ["2.5 s of warm-up"]],
    [
      ["--clients", "none", "--runs", "auto", "--warmup", "auto"],
      ["at most 20", "5 to 20", "up to 10 s of warm-up"],
    ],
    [
      ["--clients", "iovalkey,valkey-glide", "--runs", "10"],
      [" 30 runs, 10 of each of 3", "reference iovalkey"],
    ],
  ])("says what was planned: %j", async (flags, parts) => {
    const text = campaignReadme(await existing("--concurrency", "50", ...flags));
    for (const part of parts) expect(text).toContain(part);
  });
});
