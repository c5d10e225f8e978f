import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { flagValue } from "./flag-value.js";
import { cpuUsOf, roundsPerUs, WORK } from "./planted-work.js";

/**
 * What comparisons find on real stores where the truth is known by design, by the rules of the
 * report:
 * - equal: copies of one target are measured with it and compared each with each. At most 5 % may
 *   be told apart.
 * - planted: a target against itself plus some CPU work per request, in windows of several lengths.
 *   It has to be found. After how many rounds, by pairs and without them, is printed. Work that is
 *   added costs more than its share of the CPU where roles share cores: `--percent 3.7` gave 6 to
 *   7 % there.
 * `npm run bench:differences -- --copies 9 --runs 10 --windows 5,10,15 --planted-runs 14 --percent
 * 5` are the defaults (an hour). `--copies 0` or `--windows 0` leaves a part out; `--keep FOLDER`
 * keeps the campaigns.
 */
const copies = Number(flagValue("--copies", "9"));
const runs = flagValue("--runs", "10");
const windows = flagValue("--windows", "5,10,15").split(",").map(Number).filter(Boolean);
const plantedRuns = flagValue("--planted-runs", "14");
const percent = Number(flagValue("--percent", "5"));
const kept = flagValue("--keep", "");
const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const cli = join(packageFolder, "dist", "orchestrator", "cli.js");
const home = mkdtempSync(join(tmpdir(), "ratelimit-bench-differences-"));
const plugin = join(home, "same.js");

/** Measures targets that are ranked together. @returns the campaign's folder */
async function campaign(
  name: string,
  clients: string,
  count: string,
  windowS: number,
): Promise<string> {
  const output = join(kept || home, name);
  const words = [
    cli,
    "run",
    "--clients",
    clients,
    "--plugin",
    plugin,
    "--runtime",
    "local",
    "--no-copy",
    "--quiet",
    "--traffic",
    "fixed",
    "--concurrency",
    "50",
    "--duration-mode",
    `custom:${windowS}`,
    "--warmup",
    "2",
    "--cooldown",
    "0",
    "--runs",
    count,
    "--output",
    output,
  ];
  const { exitCode } = await execa(process.execPath, words, {
    env: { XDG_STATE_HOME: join(home, "state") },
    stdout: "ignore",
    stderr: "inherit",
    reject: false,
  });
  if (exitCode !== 0) throw new Error(`the campaign ended with ${exitCode}`);
  const folder = readdirSync(output).findLast((name) => /^\d{8}_/.test(name));
  if (!folder) throw new Error(`there is no campaign in ${output}`);
  return join(output, folder);
}

/** Prints what the report's rules find. */
async function printDifferences(kind: "equal" | "planted", folder: string): Promise<void> {
  const python = join(packageFolder, ".venv", "bin", "python");
  const script = join(packageFolder, "bench", "found_differences.py");
  const { exitCode } = await execa(python, [script, kind, folder], {
    stdio: "inherit",
    reject: false,
  });
  if (exitCode !== 0) process.exitCode = 1;
}

/**
 * Writes a plugin with options that change nothing, and one that adds rounds of work to each
 * command.
 */
function writePlugin(rounds: number): void {
  writeFileSync(
    plugin,
    `${WORK}const same = (id) => ({ id, summary: "changes nothing", apply: (client) => client });
function busy(client) {
  return { ...client, async open(place, tuning) {
    const opened = await client.open(place, tuning);
    const send = opened.handle.sendCommand;
    opened.handle.sendCommand = function (...words) {
      work(${Math.round(rounds)});
      return send.apply(this, words);
    };
    return opened;
  } };
}
export const plugin = {
  options: [
    ...Array.from({ length: ${copies} }, (_, index) => same("same" + (index + 1))),
    { id: "busy", summary: "${Math.round(rounds)} rounds of work more a request", apply: busy },
  ],
};
`,
  );
}

try {
  writePlugin(0);
  if (copies > 0) {
    const labels = Array.from({ length: copies }, (_, index) => `iovalkey+same${index + 1}`);
    await printDifferences(
      "equal",
      await campaign("equal", ["iovalkey", ...labels].join(","), runs, 2),
    );
  }
  if (windows.length > 0) {
    const base_us = cpuUsOf(await campaign("calibration", "iovalkey", "3", 2));
    // Roles that share cores slow each other down, and the work with them: the ratio of CPU per
    // request is printed.
    writePlugin((percent / 100) * base_us * roundsPerUs());
  }
  for (const windowS of windows) {
    process.stdout.write(`windows of ${windowS} s\n`);
    const folder = await campaign(
      `planted-${windowS}s`,
      "iovalkey,iovalkey+busy",
      plantedRuns,
      windowS,
    );
    await printDifferences("planted", folder);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
