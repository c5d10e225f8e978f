import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { MAIN } from "../../helpers/needs.js";
import { build } from "../../helpers/programs.js";

beforeAll(build);
const newFolder = temporaryFolders();
const TWO = ["--runs", "2", "--duration-mode", "custom:2"];

/** What became of each run, in the order of their numbers. */
const outcomes = (campaign: Campaign) =>
  [...campaign.results.values()].map((result) =>
    "failure" in result ? `${result.status}: ${result.failure.role}` : result.status,
  );

/** A campaign whose part was sent a signal in the first window, once it has ended. */
async function afterLosing(role: string, clients: string, signal: NodeJS.Signals): Promise<Campaign> {
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
  // What hangs may yet let the window end: then the run is measured, and invalid. It is never valid.
  const [first, second] = hanging.results.values();
  expect([4, 5]).toContain((await hanging.ended).code);
  expect(first?.verdict.status).toBe("invalid");
  expect(second?.status).toBe("measured");
  expect(second?.verdict.status).not.toBe("invalid");
  expect(await hanging.leftovers()).toEqual([]);
});

test("a second campaign at the same time is refused with the name of the first, and leaves no folder [R-second-1]", async () => {
  const home = newFolder();
  const first = Campaign.run(home, "none", ["--duration-mode", "custom:60"]);
  await first.waitForLog("  measure");
  const second = Campaign.run(home, "none", ["--output", join(home, "second")]);
  const { code, stderr } = await second.ended;
  expect(code).toBe(3);
  expect(stderr).toMatch(/^[^\n]*\d{8}_\d{6}[^\n]*--allow-parallel[^\n]*\n$/);
  expect(existsSync(join(home, "second"))).toBe(false);
  const allowed = Campaign.run(home, "none", ["--output", join(home, "third"), "--allow-parallel"]);
  expect((await allowed.ended).code).toBe(0);
  first.signal("SIGINT");
  expect((await first.ended).code).toBe(130);
  expect(await first.leftovers()).toEqual([]);
});

describe("before anything is started", MAIN, () => {
  /** Exit code 2 or 3, one line, nothing left, no results. */
  async function expectRefused(campaign: Campaign, expected: number, ...parts: string[]): Promise<void> {
    const { code, stdout, stderr } = await campaign.ended;
    for (const part of parts) expect(stderr).toContain(part);
    expect({ code, stdout, lines: stderr.trimEnd().split("\n").length }).toEqual({
      code: expected,
      stdout: "",
      lines: 1,
    });
    expect(campaign.processCount).toBe(0);
    expect(await campaign.leftovers()).toEqual([]);
    expect(readdirSync(campaign.root).sort()).not.toContain("x");
  }

  test("results below a file are an unfit environment [R-unwritable-3]", async () => {
    const home = newFolder();
    writeFileSync(join(home, "file"), "");
    await expectRefused(
      Campaign.run(home, "none", ["--output", join(home, "file", "x")]),
      3,
      join(home, "file"),
    );
  });

  test.runIf(process.platform === "linux")(
    "results below /proc are refused, where making folders would never end [R-unwritable-4]",
    async () => {
      await expectRefused(
        Campaign.run(newFolder(), "none", ["--output", "/proc/results"]),
        3,
        "/proc/results",
      );
      const env = { XDG_STATE_HOME: "/proc/state" };
      await expectRefused(Campaign.run(newFolder(), "none", [], env), 3, "XDG_STATE_HOME");
    },
  );

  test("a state folder below a file is an unfit environment", async () => {
    const home = newFolder();
    writeFileSync(join(home, "file"), "");
    const env = { XDG_STATE_HOME: join(home, "file", "state") };
    await expectRefused(Campaign.run(home, "none", [], env), 3, "XDG_STATE_HOME");
  });

  test("a file that is not a store program is an unfit environment", async () => {
    const flags = ["--valkey-server", "/no/such/program"];
    await expectRefused(Campaign.run(newFolder(), "iovalkey", flags), 3, "/no/such/program");
  });

  test("without --clients and without a terminal there is no menu: bad usage that names the flag [R-no-terminal-1]", async () => {
    await expectRefused(Campaign.command(newFolder(), ["run"]), 2, "--clients");
  });

  test.each([
    [["run", "--clients", "$(touch x)"], "$(touch x)"],
    [["run", "--clients", "none", "--runtime", "lokal"], "local"],
    [["run", "--resume", "../../x"], "--resume"],
    [["single", "extra"], "extra"],
    [[], "run"],
  ])("%j is bad usage without any effect [R-unknown-2]", async (parameters, message) => {
    await expectRefused(Campaign.command(newFolder(), parameters), 2, message);
  });
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
  const { code, stdout, stderr } = await campaign.ended;
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/runtime: local \(.*Docker.*Podman/);
});
