import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build, ROOT } from "../../helpers/programs.js";

beforeAll(build);
const newFolder = temporaryFolders();
const LONG = ["--warmup", "30", "--runs", "2"];
const LONG_MEASURE = ["--duration-mode", "custom:60", "--runs", "2"];
/** What the user is promised; a machine with more work than CPUs gives each process its share of the time alone. */
const withinMs = (): number => 15_000 * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/** Interrupts and waits for the end. @returns exit code and how long it took */
async function interrupt(campaign: Campaign, signal: NodeJS.Signals) {
  const began = Date.now();
  campaign.signal(signal);
  const { code, stdout, stderr } = await campaign.ended;
  return { end: { code, inTime: Date.now() - began < withinMs() }, stdout, stderr };
}

describe("an interruption ends the campaign in order:", () => {
  test.each([
    ["Ctrl-C", "starting", "iovalkey", LONG, "SIGINT", 130],
    ["Ctrl-C", "warmup", "valkey-glide", LONG, "SIGINT", 130],
    ["Ctrl-C", "measure", "iovalkey:cluster", LONG_MEASURE, "SIGINT", 130],
    ["SIGTERM", "measure", "iovalkey", LONG_MEASURE, "SIGTERM", 143],
    ["a closed terminal", "measure", "memory", LONG_MEASURE, "SIGHUP", 143],
  ] as const)("%s while %s [R-interrupt-1]", async (_what, phase, clients, flags, signal, expected) => {
    const campaign = Campaign.run(newFolder(), clients, flags);
    await campaign.waitForLog(`  ${phase}`);
    const { end, stderr } = await interrupt(campaign, signal);
    expect(end).toEqual({ code: expected, inTime: true });
    expect(stderr).toContain("no run was measured: there is no report\n");
    expect(existsSync(join(campaign.folder, "report"))).toBe(false);
    expect(await campaign.leftovers()).toEqual([]);
    const [run, ...others] = campaign.results.values();
    expect(run).toMatchObject({ status: "aborted", failure: { text: `interrupted by ${signal}` } });
    expect(others).toEqual([]);
    expect(campaign.manifest.status).toBe("aborted");
  });

  test("Ctrl-C while the server starts: it is in the lease before it is ready [R-interrupt-2]", async () => {
    const campaign = Campaign.run(newFolder(), "memory", LONG);
    await campaign.part("server-1");
    expect((await interrupt(campaign, "SIGINT")).end).toEqual({ code: 130, inTime: true });
    expect(await campaign.leftovers()).toEqual([]);
  });

  test("Ctrl-C after a run: measured runs are kept, with a report [R-interrupt-3]", async () => {
    const campaign = Campaign.run(newFolder(), "none", ["--runs", "2", "--cooldown", "60"]);
    await expect.poll(() => campaign.results.size, { timeout: 60_000 }).toBe(1);
    const { end, stdout, stderr } = await interrupt(campaign, "SIGINT");
    expect(end).toEqual({ code: 130, inTime: true });
    expect(campaign.measured).toHaveLength(1);
    expect(campaign.manifest.status).toBe("aborted");
    const page = join(campaign.folder, "report", "index.html");
    expect(stdout).toContain(`\nreport: ${page}\n`);
    expect(readFileSync(page, "utf8")).toContain("</html>");
    expect(stderr).toContain(
      `the report is partial: 1 of 2 runs is measured and kept in ${campaign.folder}\n`,
    );
    expect(stderr).not.toContain("generate_report");
    expect(await campaign.leftovers()).toEqual([]);
  });

  test("Ctrl-C while the report is built: the command in the message builds it [R-interrupt-4]", async () => {
    const home = newFolder();
    const programs = join(home, "programs");
    mkdirSync(programs);
    const slow = `case "$1 $2" in */report\\ generate) exec sleep 60;; esac\nPATH=\${PATH#*:} exec python3 "$@"`;
    writeFileSync(join(programs, "python3"), `#!/bin/sh\n${slow}\n`);
    chmodSync(join(programs, "python3"), 0o755);
    const campaign = Campaign.run(home, "none", [], { PATH: `${programs}:${process.env.PATH}` });
    await campaign.waitForLog("building the report");
    const { end, stderr } = await interrupt(campaign, "SIGINT");
    expect(end).toEqual({ code: 130, inTime: true });
    expect(campaign.measured).toHaveLength(1);
    expect(await campaign.leftovers()).toEqual([]);
    const page = join(campaign.folder, "report", "index.html");
    expect(existsSync(page)).toBe(false);
    const [, command = ""] = /build the report of the measured runs with\n {2}(.*)\n/.exec(stderr) ?? [];
    const built = spawnSync("bash", ["-c", command], { cwd: ROOT, encoding: "utf8" });
    expect({ ...built, stdout: built.stdout.trim() }).toMatchObject({ status: 0, stdout: page });
  });
});

test("Ctrl-C in a search: one campaign with a partial answer, and `--resume` goes on with it", async () => {
  const home = newFolder();
  const search = ["--find-max-rate", "--slo", "errors<50%", "--rate", "50", "--duration-mode", "custom:1"];
  const campaign = Campaign.run(home, "none", search);
  await campaign.waitForLog("none at 80/s: kept");
  const { end, stdout } = await interrupt(campaign, "SIGINT");
  expect(end).toEqual({ code: 130, inTime: true });
  expect(campaign.manifest.max_rate?.trials).toMatchObject([{ status: "kept" }, { status: "kept" }]);
  const partial =
    "none: no estimate yet; in single trials 80/s keeps errors<50%. The search ended early: it was interrupted.";
  expect(stdout).toContain(partial);
  const document = JSON.parse(readFileSync(join(campaign.folder, "report", "max-rate.json"), "utf8"));
  expect(document.found).toMatchObject([{ label: "none", sentence: partial, ended: null }]);
  expect(await campaign.leftovers()).toEqual([]);
  const resumed = Campaign.resume(home);
  await resumed.waitForLog("none at 128/s: kept");
  expect((await interrupt(resumed, "SIGINT")).end).toEqual({ code: 130, inTime: true });
  expect(campaign.manifest.max_rate?.trials.length).toBeGreaterThan(2);
  expect(campaign.manifest.sessions).toHaveLength(2);
});

test("neither a closed standard output (`| head`) nor a folder named `latest` ends the campaign", async () => {
  const home = newFolder();
  mkdirSync(join(home, "results root", "latest"), { recursive: true });
  const campaign = Campaign.run(home, "none");
  await campaign.waitForLog("  starting");
  campaign.closeOutput();
  const { code, stderr } = await campaign.ended;
  expect(code).toBe(0);
  expect(stderr).toContain("latest is not a link");
  expect(existsSync(join(campaign.folder, "report", "index.html"))).toBe(true);
  expect(campaign.manifest.status).toBe("finished");
  expect(await campaign.leftovers()).toEqual([]);
});

test("a second Ctrl-C ends it at once, and the message says how to remove what is left [R-interrupt-5]", async () => {
  const home = newFolder();
  const campaign = Campaign.run(home, "memory", LONG);
  await campaign.waitForLog("  warmup");
  // A server that does not listen: the orderly end waits for it.
  process.kill(await campaign.part("server-1"), "SIGSTOP");
  campaign.signal("SIGINT");
  await campaign.waitForStderr("stopping");
  campaign.signal("SIGINT");
  const { code, stderr } = await campaign.ended;
  expect(code).toBe(130);
  expect(stderr).toMatch(/ended at once; remove leftovers with: ratelimit-bench clean\n$/);
  expect((await campaign.runningProcesses()).map(({ role }) => role)).toContain("server-1");
  expect((await Campaign.command(home, ["clean", "--yes"]).ended).code).toBe(0);
  expect(await campaign.leftovers()).toEqual([]);
});

describe("a campaign that is killed", () => {
  test("leaves orphans that the next start ends, as `clean` does; a live campaign is not touched [R-killed-1]", async () => {
    const home = newFolder();
    const campaign = Campaign.run(home, "valkey-glide", LONG_MEASURE);
    await campaign.waitForLog("  measure");
    const living = Campaign.command(home, ["clean"]);
    expect(await living.ended).toMatchObject({ code: 0, stdout: "nothing was left behind\n" });
    expect((await campaign.runningProcesses()).map(({ role }) => role)).toEqual(
      expect.arrayContaining(["store-1", "server-1", "generator-1"]),
    );
    campaign.signal("SIGKILL");
    await campaign.ended;
    // The generator may end by itself, since nobody hears it any more.
    expect((await campaign.runningProcesses()).length).toBeGreaterThanOrEqual(2);
    // Without a terminal it shows what there is, and needs to be told.
    const render = await Campaign.command(home, ["clean"]).ended;
    expect(render.code).toBe(2);
    expect(render.stdout).toMatch(
      /^left behind:\n( {2}the process \d+ \([\w-]+\) of campaign \d{8}_\d{6}, [^\n]*\n){2,4} {2}the folder /,
    );
    expect(render.stderr).toContain("--yes");
    expect((await campaign.runningProcesses()).length).toBeGreaterThanOrEqual(2);
    const clean = await Campaign.command(home, ["clean", "--yes"]).ended;
    expect(clean.code).toBe(0);
    expect(clean.stdout).toContain("removed the process");
    expect(await campaign.leftovers()).toEqual([]);
    expect(await Campaign.command(home, ["clean"]).ended).toMatchObject({
      code: 0,
      stdout: "nothing was left behind\n",
    });
    const next = Campaign.run(home, "none", ["--output", join(home, "next")]);
    expect((await next.ended).code).toBe(0);
    expect(await next.leftovers()).toEqual([]);
  });
});
