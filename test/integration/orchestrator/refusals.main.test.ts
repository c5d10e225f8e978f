import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

describe("before anything is started", () => {
  /** Exit code 2 or 3, one line, nothing left, no results. */
  async function expectRefused(
    campaign: Campaign,
    expected: number,
    ...parts: string[]
  ): Promise<void> {
    const { code, stdout, stderr } = await campaign.ended;
    for (const part of parts) expect(stderr).toContain(part);
    const lines = stderr.trimEnd().split("\n").length;
    expect({ code, stdout, lines }).toEqual({ code: expected, stdout: "", lines: 1 });
    expect(campaign.processCount).toBe(0);
    expect(await campaign.leftovers()).toEqual([]);
    expect(readdirSync(campaign.root).sort()).not.toContain("x");
  }

  test("results below a file are an unfit environment [R-unwritable-3]", async () => {
    const home = newFolder();
    writeFileSync(join(home, "file"), "");
    const flags = ["--output", join(home, "file", "x")];
    await expectRefused(Campaign.run(home, "none", flags), 3, join(home, "file"));
  });

  test.runIf(process.platform === "linux")(
    "results below /proc are refused, where making folders would never end [R-unwritable-4]",
    async () => {
      const flags = ["--output", "/proc/results"];
      await expectRefused(Campaign.run(newFolder(), "none", flags), 3, "/proc/results");
      const env = { XDG_STATE_HOME: "/proc/state" };
      await expectRefused(Campaign.run(newFolder(), "none", [], env), 3, "XDG_STATE_HOME");
    },
  );

  test("without --clients and without a terminal there is no menu: bad usage that names the flag [R-no-terminal-1]", async () => {
    await expectRefused(Campaign.command(newFolder(), ["run"]), 2, "--clients");
  });

  test.each([
    [["run", "--clients", "$(touch x)"], "$(touch"],
    [["run", "--clients", "none", "--runtime", "lokal"], "local"],
    [["run", "--resume", "../../x"], "--resume"],
    [["single", "extra"], "too many arguments"],
    [[], "run"],
  ])("%j is bad usage without any effect [R-unknown-2]", async (parameters, message) => {
    await expectRefused(Campaign.command(newFolder(), parameters), 2, message);
  });
});
