import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

test("a missed threshold fails the campaign; its manifest as --config gives the same plan", async () => {
  const home = newFolder();
  const asked = ["--threshold", "errors<1%", "--threshold", "p99<0.001ms", "--points", "1000"];
  const flags = [...asked, "--duration-mode", "requests:2000"];
  const campaign = Campaign.run(home, "iovalkey", flags);
  const { stderr } = await campaign.ends(6);
  expect(stderr).toContain("p99<0.001ms");
  expect(stderr).not.toContain("errors<1%");
  expect(campaign.measured.map(({ verdict }) => verdict.status)).not.toContain("invalid");

  const manifest = join(campaign.folder, "manifest.json");
  const repeat = Campaign.command(home, ["run", "--config", manifest, "--dry-run", "--json"]);
  const answer = await repeat.ended;
  expect(answer).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(answer.stdout).plan).toEqual(campaign.manifest.plan);
});

test("--dry-run prints matrix, order, skips with reasons and the estimate, and starts nothing", async () => {
  const home = newFolder();
  const clients = [
    "--clients",
    "iovalkey,ioredis@valkey:cluster,valkey-glide@redis",
    "--concurrency",
    "5 6",
  ];
  const flags = "--dry-run --runtime local --runs 2 --seed 1 --duration-mode fixed30".split(" ");
  const campaign = Campaign.command(home, ["run", ...clients, ...flags]);
  const { code, stdout, stderr } = await campaign.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /^ +3 +iovalkey +valkey standalone +light +realistic +6 connections +30 s +2 /m,
  );
  expect(stdout).toMatch(/^ {2}round 2: \([1-4] [1-4]\) \([1-4] [1-4]\)$/m);
  expect(stdout).toMatch(/^skipped valkey-glide@redis: .*\+same-script/m);
  expect(stdout).toMatch(/^8 runs /m);
  expect(existsSync(join(home, "results"))).toBe(false);
  expect(await campaign.leftovers()).toEqual([]);
});

/** The CLI with so many open files, or with other programs. */
function run(env: Readonly<Record<string, string>>, files: number, ...parameters: string[]) {
  const script = `ulimit -n ${files}; exec "$@"`;
  const command = [
    "-c",
    script,
    "bash",
    process.execPath,
    "dist/orchestrator/cli.js",
    ...parameters,
  ];
  const whole = { ...process.env, XDG_STATE_HOME: newFolder(), ...env };
  return spawnSync("bash", command, { cwd: ROOT, encoding: "utf8", env: whole });
}

test("too few open files are one line, for the command line itself, for a plan and its dry run [R-files-2]", () => {
  const help = run({}, 100, "--help");
  expect(help.status, help.stderr).toBe(3);
  expect(help.stderr).toMatch(/^[^\n]*ulimit -n[^\n]*\n$/);
  const campaign = [
    "run",
    ..."--clients none --runtime local --runs 1 --output".split(" "),
    newFolder(),
  ];
  for (const flags of [["--dry-run"], []]) {
    const { status, stderr } = run({}, 400, ...campaign, "--concurrency", "1000", ...flags);
    expect(status, stderr).toBe(3);
    expect(stderr).toMatch(/^[^\n]*ulimit -Hn \d+[^\n]*--concurrency[^\n]*\n$/m);
  }
  expect(run({}, 400, ...campaign, "--concurrency", "50", "--dry-run").status).toBe(0);
});

test("a dry run of a campaign that would be refused prints plan and reason, and exits like the campaign", () => {
  // Few CPUs are one of the things that the doctor warns of, on every machine.
  const programs = newFolder();
  writeFileSync(join(programs, "getconf"), "#!/bin/sh\necho 2\n", { mode: 0o755 });
  const env = { PATH: `${programs}:${process.env.PATH}` };
  const flags = [
    ..."run --preset publication --clients none --runtime local --output".split(" "),
    newFolder(),
  ];
  const dry = run(env, 2000, ...flags, "--dry-run");
  expect(dry.status).toBe(3);
  expect(dry.stdout).toMatch(/^18 runs /m);
  expect(dry.stderr).toMatch(/^[^\n]*cores: 2[^\n]*--force[^\n]*\n$/);
  const start = run(env, 2000, ...flags);
  expect(start.status).toBe(3);
  expect(start.stderr).toMatch(/^[^\n]*cores: 2[^\n]*\n$/);
  expect(run(env, 2000, ...flags, "--dry-run", "--force").status).toBe(0);
});
