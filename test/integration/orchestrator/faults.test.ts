import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();
const TWO = ["--runs", "2", "--duration-mode", "custom:2"];

/** What became of each run, in the order of their numbers. */
const outcomes = (campaign: Campaign) =>
  [...campaign.results.values()].map((result) =>
    "failure" in result ? `${result.status}: ${result.failure.role}` : result.status,
  );

/** A campaign whose part was sent a signal in the first window, once it has ended. */
async function afterLosing(
  role: string,
  clients: string,
  signal: NodeJS.Signals,
): Promise<Campaign> {
  const campaign = Campaign.run(newFolder(), clients, TWO);
  const pid = await campaign.part(role);
  await campaign.waitForLog("  measure");
  process.kill(pid, signal);
  await campaign.ended;
  return campaign;
}

test("a part that dies or hangs in the first run fails only that run, and is named [R-server-dies-1]", async () => {
  // Side by side, because they mostly wait; each has a state folder of its own.
  const [hanging, ...dying] = await Promise.all([
    afterLosing("store-1", "iovalkey", "SIGSTOP"),
    afterLosing("server-1", "memory", "SIGKILL"),
    afterLosing("store-1", "iovalkey", "SIGKILL"),
    afterLosing("generator-1", "none", "SIGKILL"),
  ]);
  for (const [index, role] of ["server-1", "store-1", "generator-1"].entries()) {
    const campaign = dying[index];
    if (!campaign) throw new Error("a campaign for each role");
    const { code } = await campaign.ended;
    expect(outcomes(campaign)).toEqual([`failed: ${role}`, "measured"]);
    expect(code).toBe(4);
    const [failed] = campaign.results.values();
    expect(failed).not.toHaveProperty("requests");
    expect(JSON.stringify(failed)).toContain("SIGKILL");
    // Progress is no reason.
    expect(failed?.verdict.reasons[0]?.text).not.toContain('"phase":');
    expect(campaign.manifest.status).toBe("finished");
    expect(existsSync(join(campaign.folder, "report", "index.html"))).toBe(true);
    expect(await campaign.leftovers()).toEqual([]);
  }
  // What hangs may yet let the window end: then the run is measured, and invalid. It is never
  // valid.
  const [first, second] = hanging.results.values();
  expect([4, 5]).toContain((await hanging.ended).code);
  expect(first?.verdict.status).toBe("invalid");
  expect(second?.status).toBe("measured");
  expect(second?.verdict.status).not.toBe("invalid");
  expect(await hanging.leftovers()).toEqual([]);
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
  const allowed = Campaign.run(home, "none", ["--output", join(home, "third"), "--allow-parallel"]);
  expect((await allowed.ended).code).toBe(0);
  await first.interrupted();
});

test("without any engine `auto` falls back to this machine, and says why [R-no-engine-3]", async () => {
  const home = newFolder();
  const programs = join(home, "programs");
  mkdirSync(programs);
  // Podman may be installed here: this one is not.
  writeFileSync(join(programs, "podman"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
  const env = {
    DOCKER_HOST: "unix:///nonexistent/docker.sock",
    PATH: `${programs}:${process.env.PATH}`,
  };
  const campaign = Campaign.run(home, "none", ["--runtime", "auto", "--dry-run"], env);
  const { stdout } = await campaign.ends();
  expect(stdout).toMatch(/runtime: local \(.*Docker.*Podman/);
});
