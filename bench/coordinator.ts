/**
 * Up to how many load generators one orchestrator holds: a real campaign in which stand-ins write what real generators
 * wrote, without the load. `npm run bench:coordinator` prints, for each number of generators and of progress lines, CPU
 * time and memory of the orchestrator, its open files, how late it handled the lines, and what merging the results took.
 * Linux only: the figures come from /proc.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WINDOW_S = 10;
/** CPU time in /proc is counted in hundredths of a second. */
const TICK_MS = 10;

interface Case {
  generators: number;
  /** Progress lines that each generator writes a second; a real one writes 1. */
  linesPerSecond: number;
  /** Results with the latencies of each tenth of a second, as runs with faults have them. */
  timeline: boolean;
}

const CASES: readonly Case[] = [
  ...[2, 8, 32].map((generators) => ({ generators, linesPerSecond: 1, timeline: false })),
  { generators: 32, linesPerSecond: 100, timeline: false },
  { generators: 32, linesPerSecond: 1, timeline: true },
];

/** A copy of the package in which a stand-in is the load generator. */
function packageWithStandIn(): string {
  const folder = mkdtempSync(join(tmpdir(), "ratelimit-bench-coordinator-"));
  for (const name of readdirSync(ROOT)) {
    if (name === "dist") cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    else if (name !== "results") symlinkSync(join(ROOT, name), join(folder, name));
  }
  const programs = join(folder, "dist/benchmark");
  renameSync(join(programs, "index.js"), join(programs, "generator.js"));
  cpSync(join(ROOT, "bench/stand-in-generator.mjs"), join(programs, "index.js"));
  return folder;
}

/** What /proc says of a process; undefined once it has ended. */
function processOf(pid: number): { cpu_ms: number; resident_bytes: number; files: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return {
      cpu_ms: TICK_MS * ticks,
      resident_bytes: 1024 * Number(peak?.[1] ?? 0),
      files: readdirSync(`/proc/${pid}/fd`).length,
    };
  } catch {
    return undefined;
  }
}

interface Measured {
  cpu_ms: number;
  at_ms: number;
}

/** One run of a campaign. @returns what the orchestrator used of the machine, and its folder */
async function campaign(folder: string, { generators, timeline }: Case) {
  const output = mkdtempSync(join(folder, "results-"));
  mkdirSync(join(folder, "state"), { recursive: true });
  const flags = [
    ...["run", "--clients", "iovalkey", "--runtime", "local", "--generators", String(generators)],
    ...["--rate", "3000", "--concurrency", "64", "--duration-mode", `custom:${WINDOW_S}`, "--warmup", "1"],
    ...["--runs", "1", "--cooldown", "0", "--seed", "1", "--allow-parallel", "--output", output],
    ...(timeline ? ["--fault", "store-pause@1s+0.2s"] : []),
  ];
  const child = spawn(process.execPath, [join(folder, "dist/orchestrator/cli.js"), ...flags], {
    cwd: folder,
    env: { PATH: process.env.PATH, XDG_STATE_HOME: join(folder, "state"), TMPDIR: folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const ended = once(child, "close");
  const moments = new Map<string, Measured>();
  let peak = { resident_bytes: 0, files: 0 };
  const log = () => {
    const [name] = readdirSync(output).filter((each) => /^\d/.test(each));
    return join(output, name ?? "none yet");
  };
  while (child.exitCode === null) {
    const now = processOf(child.pid ?? 0);
    if (now) {
      peak = {
        resident_bytes: Math.max(peak.resident_bytes, now.resident_bytes),
        files: Math.max(peak.files, now.files),
      };
      const path = join(log(), "benchmark.log");
      const text = existsSync(path) ? readFileSync(path, "utf8") : "";
      for (const phase of ["measure", "finished", "read"])
        if (!moments.has(phase) && text.includes(` ${phase}\n`))
          moments.set(phase, { cpu_ms: now.cpu_ms, at_ms: performance.now() });
    }
    await sleep(20);
  }
  const [code] = await ended;
  const results = readdirSync(log()).filter((name) => name.endsWith("_run1.json"));
  if (results.length !== 1) throw new Error(`the campaign ended with ${code}: ${said}`);
  return { moments, peak, log: join(log(), `${results[0]}.log`), result: join(log(), results[0] ?? "") };
}

/** Milliseconds from each line's writing to its handling, by one clock, ascending. */
function lagsMs(log: string): number[] {
  const lags: number[] = [];
  for (const line of readFileSync(log, "utf8").split("\n")) {
    const found = /^(\S+) generator-\d+: .*"t_s":([\d.]+)/.exec(line);
    if (found) lags.push(Date.parse(found[1] ?? "") - 1000 * Number(found[2]));
  }
  return lags.sort((a, b) => a - b);
}

const at = (values: readonly number[], share: number): number =>
  values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? Number.NaN;
const difference = (a: Measured | undefined, b: Measured | undefined, read: (of: Measured) => number) =>
  a && b ? read(b) - read(a) : Number.NaN;

const folder = packageWithStandIn();
try {
  const programs = join(folder, "dist/benchmark");
  const configure = (settings: unknown) =>
    writeFileSync(join(programs, "stand-in.json"), JSON.stringify(settings));
  console.log(
    "generators  lines/s  late p50/max ms  CPU in window  results MB  merge CPU ms  wall ms  peak MB  files",
  );
  let recorded: boolean | undefined;
  for (const each of CASES) {
    const { generators, linesPerSecond, timeline } = each;
    if (recorded !== timeline) {
      configure({ mode: "record" });
      await campaign(folder, { generators: 2, linesPerSecond: 1, timeline });
      recorded = timeline;
    }
    configure({ mode: "replay", windowS: WINDOW_S, linesPerSecond });
    const { moments, peak, log } = await campaign(folder, each);
    const lags = lagsMs(log);
    const expected = generators * linesPerSecond * WINDOW_S;
    if (lags.length < 0.9 * expected) throw new Error(`${lags.length} of ${expected} lines were written`);
    const [measure, finished, read] = ["measure", "finished", "read"].map((phase) => moments.get(phase));
    const bytes =
      statSync(join(programs, "recorded-0.json")).size +
      (generators - 1) * statSync(join(programs, "recorded-1.json")).size;
    const window =
      (100 * difference(measure, finished, ({ cpu_ms }) => cpu_ms)) /
      difference(measure, finished, ({ at_ms }) => at_ms);
    console.log(
      [
        `${generators}${timeline ? " timeline" : ""}`.padEnd(11),
        String(Math.round(lags.length / WINDOW_S)).padStart(7),
        `${Math.max(0, at(lags, 0.5)).toFixed(0)}/${at(lags, 1).toFixed(0)}`.padStart(16),
        `${window.toFixed(1)} %`.padStart(14),
        (bytes / 1e6).toFixed(2).padStart(11),
        difference(finished, read, ({ cpu_ms }) => cpu_ms)
          .toFixed(0)
          .padStart(13),
        difference(finished, read, ({ at_ms }) => at_ms)
          .toFixed(0)
          .padStart(8),
        (peak.resident_bytes / 1e6).toFixed(0).padStart(8),
        String(peak.files).padStart(6),
      ].join(" "),
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
