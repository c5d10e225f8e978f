import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Campaign, withoutEngines } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();
// A low rate leaves the machine to others.
const LONG_WARMUP = ["--rate", "50", "--warmup", "30", "--runs", "2"];
const LONG_MEASURE = ["--rate", "50", "--duration-mode", "custom:60", "--runs", "2"];

describe("an interruption ends the campaign in order:", () => {
  /** It is in the lease before it is ready. */
  const serverStarts = (campaign: Campaign) => campaign.part("server-1");
  const warmsUp = (campaign: Campaign) => campaign.waitForLog("  warmup");
  const measures = (campaign: Campaign) => campaign.waitForLog("  measure");

  test.each([
    ["Ctrl-C in the warm-up", "valkey-glide", LONG_WARMUP, warmsUp, "SIGINT", 130],
    ["SIGTERM in the window", "iovalkey:cluster-3", LONG_MEASURE, measures, "SIGTERM", 143],
    [
      "a closed terminal while the server starts [R-interrupt-2]",
      "memory",
      LONG_WARMUP,
      serverStarts,
      "SIGHUP",
      143,
    ],
  ] as const)("%s [R-interrupt-1]", async (_what, clients, flags, moment, signal, expected) => {
    const campaign = Campaign.run(newFolder(), clients, flags);
    await moment(campaign);
    campaign.signal(signal);
    await campaign.ends(expected);
    expect(existsSync(join(campaign.folder, "report"))).toBe(false);
    const [run, ...others] = campaign.results.values();
    expect(run).toMatchObject({
      status: "aborted",
      failure: { text: `interrupted by ${signal}` },
    });
    expect(others).toEqual([]);
    expect(campaign.manifest.status).toBe("aborted");
  });

  test("Ctrl-C while the report is built: the command in the message builds it [R-interrupt-4]; neither a closed standard output (`| head`) nor a folder named `latest` has ended the campaign before", async () => {
    const home = newFolder();
    mkdirSync(join(home, "results root", "latest"), { recursive: true });
    const programs = join(home, "programs");
    mkdirSync(programs);
    const slow = `case "$1 $2" in */report\\ generate) exec sleep 60;; esac\nPATH=\${PATH#*:} exec python3 "$@"`;
    writeFileSync(join(programs, "python3"), `#!/bin/sh\n${slow}\n`);
    chmodSync(join(programs, "python3"), 0o755);
    const campaign = Campaign.run(home, "none", [], { PATH: `${programs}:${process.env.PATH}` });
    await campaign.waitForLog("  starting");
    campaign.closeOutput();
    await campaign.waitForLog("building the report");
    const { stderr } = await campaign.interrupted();
    expect(stderr).toContain("latest is not a link");
    expect(campaign.manifest.status).toBe("finished");
    expect(campaign.measured).toHaveLength(1);
    const page = join(campaign.folder, "report", "index.html");
    expect(existsSync(page)).toBe(false);
    const [, command = ""] = /\n {2}(.*generate_report.*)\n/.exec(stderr) ?? [];
    const built = spawnSync("bash", ["-c", command], { cwd: home, encoding: "utf8" });
    expect({ ...built, stdout: built.stdout.trim() }).toMatchObject({ status: 0, stdout: page });
  });
});

test("Ctrl-C in a search: one campaign with a partial answer, and `--resume` goes on with it", async () => {
  const home = newFolder();
  const search = [
    "--find-max-rate",
    "--slo",
    "errors<50%",
    "--rate",
    "50",
    "--duration-mode",
    "custom:1",
  ];
  const campaign = Campaign.run(home, "none", search);
  await campaign.waitForLog("none at 50/s: kept");
  await campaign.interrupted();
  expect(campaign.manifest.max_rate?.trials).toMatchObject([{ status: "kept" }]);
  const document = JSON.parse(campaign.report("max-rate.json"));
  expect(document.found).toMatchObject([{ label: "none", ended: null }]);
  const resumed = Campaign.resume(home);
  await resumed.waitForLog("none at 80/s: kept");
  await resumed.interrupted();
  expect(campaign.manifest.max_rate?.trials.length).toBeGreaterThan(1);
  expect(campaign.manifest.sessions).toHaveLength(2);
});

test("a second Ctrl-C ends it at once, and the message says how to remove what is left [R-interrupt-5]", async () => {
  const campaign = Campaign.run(newFolder(), "memory", LONG_WARMUP);
  await campaign.waitForLog("  warmup");
  // A server that does not listen: the orderly end waits for it.
  process.kill(await campaign.part("server-1"), "SIGSTOP");
  campaign.signal("SIGINT");
  await campaign.waitForStderr("stopping");
  campaign.signal("SIGINT");
  const { code, stderr } = await campaign.ended;
  expect(code).toBe(130);
  expect(stderr).toMatch(/: node \S*dist\/orchestrator\/cli\.js clean\n$/);
  await campaign.orphansEnd();
});

test("a campaign that is killed with its guard leaves orphans that `clean` ends; a live campaign is not touched [R-killed-1]", async () => {
  const home = newFolder();
  const campaign = Campaign.run(home, "valkey-glide", LONG_MEASURE);
  await campaign.waitForLog("  measure");
  const clean = (...flags: string[]) =>
    Campaign.command(home, ["clean", ...flags], withoutEngines(home));
  const { code, stdout } = await clean().ended;
  expect(code, stdout).toBe(0);
  expect((await campaign.runningProcesses()).map(({ role }) => role)).toEqual(
    expect.arrayContaining(["guard", "store-1", "server-1", "generator-1"]),
  );
  process.kill(await campaign.part("guard"), "SIGKILL");
  campaign.signal("SIGKILL");
  await campaign.ended;
  // The generator may end by itself, since nobody hears it any more.
  expect((await campaign.runningProcesses()).length).toBeGreaterThanOrEqual(2);
  // Without a terminal it shows what there is, and needs to be told.
  const render = await clean().ended;
  expect(render.code).toBe(2);
  for (const { pid } of await campaign.runningProcesses())
    expect(render.stdout).toContain(String(pid));
  expect(render.stderr).toContain("--yes");
  expect((await campaign.runningProcesses()).length).toBeGreaterThanOrEqual(2);
  await clean("--yes").ends();
  expect(await campaign.leftovers()).toEqual([]);
});
