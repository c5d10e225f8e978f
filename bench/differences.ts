import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

/**
 * Checks `compare` on real stores where the truth is known by design. One interleaved campaign compares seven copies of
 * one target with each other (21 comparisons, of which at most 3 may find a difference). Another campaign, with more and
 * longer runs, compares a target with itself plus 10 % server CPU per request, both at one rate, where CPU is evidence. `npm run bench:differences -- --runs 20
 * --planted-runs 40` takes other numbers of runs than 10 and 60.
 */
const COPIES = 7;
const EXTRA = 0.1;
const FLAGGED_AT_MOST = 3;
/** Below what two cores that all roles share can serve. */
const RATE = "2000";

function flagValue(flag: string, fallback: string): string {
  const index = process.argv.indexOf(flag);
  return index < 0 ? fallback : (process.argv[index + 1] ?? "");
}

const runs = flagValue("--runs", "10");
const plantedRuns = flagValue("--planted-runs", "60");
const cli = fileURLToPath(new URL("../dist/orchestrator/cli.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ratelimit-bench-differences-"));
const output = join(home, "results");
const plugin = join(home, "same.js");

/** @returns standard output and exit code; messages go to this terminal */
async function runCli(words: readonly string[]) {
  const env = { XDG_STATE_HOME: join(home, "state") };
  const { stdout, exitCode = 1 } = await execa(process.execPath, [cli, ...words], {
    env,
    stderr: "inherit",
    reject: false,
  });
  return { stdout, exitCode };
}

async function campaign(
  clients: string,
  count: string,
  windowS: number,
  ...more: readonly string[]
): Promise<void> {
  const load = [
    "--concurrency",
    "50",
    "--duration-mode",
    `custom:${windowS}`,
    "--warmup",
    "1",
    "--cooldown",
    "0",
    ...more,
  ];
  const flags = ["--clients", clients, "--plugin", plugin, "--runtime", "local", "--quiet", ...load];
  const { exitCode } = await runCli(["run", ...flags, "--runs", count, "--seed", "1", "--output", output]);
  if (exitCode !== 0) throw new Error(`the campaign ended with ${exitCode}`);
}

/** Work in rounds instead of time, so that its share of CPU does not depend on the current speed of the host. */
const WORK = `let state = 1;
function work(rounds) {
  for (let round = 0; round < rounds; round++) state = (Math.imul(state, 1103515245) + 12345) | 0;
}
`;

/** The median number of rounds per microsecond of 20 measurements. */
function roundsPerUs(): number {
  const work = new Function(`${WORK} return work;`)() as (rounds: number) => void;
  const measurements = Array.from({ length: 20 }, () => {
    const before = performance.now();
    work(1e7);
    return 1e4 / (performance.now() - before);
  });
  return measurements.sort((a, b) => a - b)[10] ?? 0;
}

/** Writes a plugin with options that change nothing, and one that adds rounds of work to each command. */
function writePlugin(rounds: number): void {
  const same = Array.from({ length: COPIES }, (_, each) => `same${each + 1}`);
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
    ...${JSON.stringify(same)}.map(same),
    { id: "busy", summary: "${Math.round(rounds)} rounds of work more a request", apply: busy },
  ],
};
`,
  );
}

/** The median server CPU per request of the first campaign, at the rate of the planted one. */
function cpuUsOfRuns(): number {
  const folder = join(output, readdirSync(output).find((name) => /^\d{8}_/.test(name)) ?? "");
  const files = readdirSync(folder).filter((name) => /_run\d+\.json$/.test(name));
  const figures = files.map((file) => {
    const result = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
      resources: { "server-1": { cpu_us_per_request: number } };
    };
    return result.resources["server-1"].cpu_us_per_request;
  });
  return figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0;
}

interface Row {
  status: string;
  ratio: number | null;
  interval: { low: number; high: number } | null;
}

async function compared(base: string, against: string, metric: string): Promise<Row & { exitCode: number }> {
  const words = ["compare", base, against, "--metric", metric, "--format", "json", "--output", output];
  const { stdout, exitCode } = await runCli(words);
  const [row] = (JSON.parse(stdout) as { comparisons: Row[] }).comparisons;
  if (!row) throw new Error(`compare found nothing to compare in ${base} and ${against}`);
  return { ...row, exitCode };
}

try {
  mkdirSync(output);
  writePlugin(0);
  const before = roundsPerUs();
  await campaign("iovalkey+same1", "5", 2, "--rate", RATE);
  const base_us = cpuUsOfRuns();
  writePlugin((EXTRA * base_us * (before + roundsPerUs())) / 2);
  const labels = Array.from({ length: COPIES }, (_, each) => `iovalkey+same${each + 1}`);
  await campaign(labels.join(","), runs, 2);

  const found: Record<string, number> = {};
  for (const [each, base] of labels.entries()) {
    for (const against of labels.slice(each + 1)) {
      const { status } = await compared(base, against, "throughput");
      found[status] = (found[status] ?? 0) + 1;
    }
  }
  const flagged = (found.worse ?? 0) + (found.better ?? 0);
  process.stdout.write(
    `copies of one target, ${runs} runs a side: ${JSON.stringify(found)}; differences found in ${flagged} of ${(COPIES * (COPIES - 1)) / 2}, at most ${FLAGGED_AT_MOST} allowed\n`,
  );
  await campaign("iovalkey+same1,iovalkey+busy", plantedRuns, 4, "--rate", RATE);
  const busy = await compared("iovalkey+same1", "iovalkey+busy", "cpu");
  const finding = `${busy.status}, ratio ${busy.ratio?.toFixed(3)} (${busy.interval?.low.toFixed(3)} to ${busy.interval?.high.toFixed(3)})`;
  process.stdout.write(
    `${(EXTRA * base_us).toFixed(1)} µs more than ${base_us.toFixed(1)} µs of server CPU, ${plantedRuns} runs a side: ${finding}, compare ended with ${busy.exitCode}, must be 6\n`,
  );
  if (flagged > FLAGGED_AT_MOST || busy.exitCode !== 6) process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}
