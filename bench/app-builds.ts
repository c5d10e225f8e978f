import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { flagValue } from "./flag-value.js";
import { cpuUsOf, roundsPerUs } from "./planted-work.js";

/**
 * What `run --app` finds between two builds of one Express app, where the truth is known by design:
 * one does so much more work a request, as a share of the CPU time that a request takes here. The
 * campaign is the default one of apps, with its copy of the first. The bench prints its last lines
 * and its minutes.
 *
 * `npm run bench:apps -- --percent 10,0` is the default (a quarter of an hour): 10 % more, and two
 * equal builds. `--output FOLDER` keeps the campaigns.
 */
const percents = flagValue("--percent", "10,0").split(",").map(Number);
const output = flagValue("--output", "");
const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const cli = join(packageFolder, "dist", "orchestrator", "cli.js");
const home = output || mkdtempSync(join(tmpdir(), "ratelimit-bench-apps-"));

const build = (name: string, rounds: number): string[] => [
  "--app",
  `${name}=env WORK_ROUNDS=${Math.round(rounds)} node bench/express-app.mjs`,
];

/** A campaign of two builds, the second with so many rounds of work more. @returns its folder */
async function campaign(name: string, rounds: number, flags: readonly string[]): Promise<string> {
  const folder = join(home, name);
  const words = [cli, "run", ...build("before", 0), ...build("after", rounds), ...flags];
  words.push("--path", "/api/items?user={key}", "--runtime", "local", "--output", folder);
  const startedAt = performance.now();
  const { stdout } = await execa(process.execPath, words, {
    cwd: packageFolder,
    stderr: "inherit",
  });
  const minutes = (performance.now() - startedAt) / 60_000;
  console.log(`${name}, ${minutes.toFixed(1)} minutes:\n${stdout}\n`);
  return join(folder, "latest");
}

try {
  const base_us = cpuUsOf(await campaign("what a request costs", 0, ["--runs", "3"]));
  for (const percent of percents)
    await campaign(`${percent} % more`, (percent / 100) * base_us * roundsPerUs(), []);
} finally {
  if (!output) rmSync(home, { recursive: true, force: true });
}
