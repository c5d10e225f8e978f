import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign, withoutEngines } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

/** What became of each run, in the order of their numbers. */
const outcomes = (campaign: Campaign) =>
  [...campaign.results.values()].map((result) =>
    "failure" in result ? `${result.status}: ${result.failure.role}` : result.status,
  );

/** The part that is lost in each run of a campaign, and how. Nothing is lost in the last run. */
const LOSSES: readonly (readonly [role: string, signal: NodeJS.Signals])[] = [
  ["store-1", "SIGSTOP"],
  ["server-1", "SIGKILL"],
  ["store-1", "SIGKILL"],
  ["generator-1", "SIGKILL"],
];

test("a part that dies or hangs fails only its run, and is named [R-server-dies-1]", async () => {
  const runs = String(LOSSES.length + 1);
  const flags = ["--runs", runs, "--duration-mode", "custom:2"];
  const campaign = Campaign.run(newFolder(), "iovalkey", flags);
  for (const [index, [role, signal]] of LOSSES.entries()) {
    await campaign.waitForLog("  measure", index + 1);
    process.kill(await campaign.part(role), signal);
  }
  await campaign.ends(4);

  const [hanging, ...others] = campaign.results.values();
  // What hangs may yet let the window end: then the run is measured, and invalid. It is never
  // valid.
  expect(hanging?.verdict.status).toBe("invalid");
  const dead = LOSSES.slice(1).map(([role]) => `failed: ${role}`);
  expect(outcomes(campaign).slice(1)).toEqual([...dead, "measured"]);
  expect(others.at(-1)?.verdict.status).not.toBe("invalid");
  for (const failed of others.slice(0, -1)) {
    expect(failed).not.toHaveProperty("requests");
    expect(JSON.stringify(failed)).toContain("SIGKILL");
    // Progress is no reason.
    expect(failed.verdict.reasons[0]?.text).not.toContain('"phase":');
  }
  expect(campaign.manifest.status).toBe("finished");
  expect(existsSync(join(campaign.folder, "report", "index.html"))).toBe(true);
});

test("a second campaign at the same time is refused with the name of the first, and leaves no folder [R-second-1]", async () => {
  const home = newFolder();
  const first = Campaign.run(home, "none", ["--duration-mode", "custom:60", "--rate", "50"]);
  await first.waitForLog("  measure");
  const second = Campaign.run(home, "none", ["--output", join(home, "second")]);
  const { code, stderr } = await second.ended;
  expect(code).toBe(3);
  expect(stderr).toMatch(/^[^\n]*\d{8}_\d{6}[^\n]*--allow-parallel[^\n]*\n$/);
  expect(existsSync(join(home, "second"))).toBe(false);
  const allowed = Campaign.run(home, "none", [
    "--output",
    join(home, "third"),
    "--allow-parallel",
    "--duration-mode",
    "requests:1000",
  ]);
  expect((await allowed.ended).code).toBe(0);
  await first.interrupted();
});

test("without any engine `auto` falls back to this machine, and says why [R-no-engine-3]", async () => {
  const home = newFolder();
  const flags = ["--runtime", "auto", "--dry-run"];
  const campaign = Campaign.run(home, "none", flags, withoutEngines(home));
  const { stdout } = await campaign.ends();
  expect(stdout).toMatch(/runtime: local \(.*Docker.*Podman/);
});
