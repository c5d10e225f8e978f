import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../../src/contract/manifest.js";
import { endSession, resumedManifest } from "../../../../src/orchestrator/campaign/manifest.js";
import { campaignReadme } from "../../../../src/orchestrator/campaign/readme.js";
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
    expect(running).toContain("Status: running, resumed at 2026-01-01 12:00:00 UTC.");
    expect(running).toContain(
      "- 2026-01-01 10:00:00 UTC until it was killed\n" +
        "- 2026-01-01 11:00:00 UTC to 2026-01-01 11:30:00 UTC\n" +
        "- 2026-01-01 12:00:00 UTC, running\n",
    );
    expect(running).not.toContain("is the report");
    expect(running).toContain("written when the campaign ends");

    third.status = "finished";
    endSession(third);
    const finished = campaignReadme(third);
    expect(finished).toContain("Status: finished.");
    expect(finished).not.toContain("running");
    expect(finished).toContain("`report/index.html` is the report");
  });

  test("says how long the warm-up was to be", async () => {
    expect(campaignReadme(await existing("--warmup", "2.5"))).toContain(
      ", 2.5 s of warm-up before each, discarded.\n",
    );
    expect(campaignReadme(await existing("--warmup", "auto"))).toContain(
      ", 3 to 10 s of warm-up (until steady) before each, discarded.\n",
    );
  });

  test("uses the singular for one run and one configuration", async () => {
    const single = campaignReadme(await existing("--clients", "none", "--runs", "1", "--concurrency", "50"));
    expect(single).toContain(" 1 run of 1 configuration, interleaved,");
    const many = campaignReadme(await existing("--clients", "none", "--runs", "3"));
    expect(many).toContain(" 6 runs, 3 of each of 2 configurations, interleaved,");
    expect(many).not.toContain("burn-in");
    const compared = await existing(
      "--clients",
      "iovalkey,valkey-glide",
      "--concurrency",
      "50",
      "--runs",
      "10",
    );
    expect(campaignReadme(compared)).toContain(
      " 30 runs, 10 of each of 3 configurations, interleaved, after a burn-in round that is kept and never counts,",
    );
    expect(campaignReadme(compared)).toContain(
      "## Comparisons\n\n- reference iovalkey + copy: 1 comparison, paired by round\n",
    );
    const adaptive = await existing("--clients", "none", "--concurrency", "50", "--runs", "auto");
    const [hash = ""] = adaptive.plan.configurations.map((each) => each.hash);
    adaptive.adaptive = { rounds: { [hash]: 1 }, looked: 0, spent_s: 0 };
    const text = campaignReadme(adaptive);
    expect(text).toContain(
      " 1 of at most 20 runs: as many as it takes, 5 to 20, of 1 configuration, interleaved,",
    );
    expect(text).toContain("120 s, 1 run\n");
    expect(text).toContain(", after a burn-in round that is kept and never counts,");
  });
});
