import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { execa } from "execa";
import { TestStore } from "../test/helpers/store.js";
import { flagValue } from "./flag-value.js";
import {
  type Gates,
  gatePage,
  gatesSchema,
  type HeadKind,
  NAIVE_SHARE,
  WANTED,
} from "./gate-page.js";
import { cpuUsOf, roundsPerUs, WORK } from "./planted-work.js";
import { MeasuredServer } from "./processes.js";
import { remainingHeads } from "./remaining-heads.js";

/**
 * What the gate of the GitHub action says where the truth is known by design: of a package against
 * itself, of one with 15 % more work, and of one that admits a request more than its quota. Beside
 * each stands what a job says that runs autocannon once before and once after.
 *
 * `npm run bench:gate -- --equal 20 --slower 10 --off-by-one 5 --output results/gate.json` are the
 * defaults (hours). A file that is already there is continued. `--page FILE` writes the page about
 * gates from such a file, and measures nothing.
 */
const PACKAGE = "rate-limiter-flexible";
const TARGET = `ioredis@valkey+${PACKAGE}`;
const SLOWER_SHARE = 0.15;
const NAIVE_SECONDS = 10;
const NAIVE_CONNECTIONS = 50;
/** Where every consume passes, and where it is decided. */
const FILE = "lib/RateLimiterStoreAbstract.js";

const PAGE = "docs/gate.md";
const COUNTS: Readonly<Record<HeadKind, number>> = {
  equal: Number(flagValue("--equal", String(WANTED.equal))),
  slower: Number(flagValue("--slower", String(WANTED.slower))),
  "off-by-one": Number(flagValue("--off-by-one", String(WANTED["off-by-one"]))),
};
const root = fileURLToPath(new URL("..", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ratelimit-bench-gate-"));
const checkout = join(home, "checkout");

const git = (...words: readonly string[]) =>
  execa("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], { cwd: checkout });

async function commitOf(message: string): Promise<string> {
  await git("add", "--force", ".");
  await git("commit", "--quiet", "--allow-empty", "--message", message);
  return (await git("rev-parse", "HEAD")).stdout;
}

/** The file of the package after a change of its text. @throws Error where the text is not there */
function changed(source: string, from: string, to: string): string {
  if (!source.includes(from)) throw new Error(`${FILE} has no ${from}: adapt bench/gate.ts`);
  return source.replace(from, to);
}

const withWork = (source: string, rounds: number): string =>
  `${changed(
    source,
    "  _consume(key, pointsToConsume = 1, options = {}) {\n",
    `  _consume(key, pointsToConsume = 1, options = {}) {\n    work(${Math.round(rounds)});\n`,
  )}\n${WORK}`;

/** A quota of nothing, which used-up keys have, stays nothing. */
const withOneMore = (source: string): string =>
  changed(
    source,
    "else if (res.consumedPoints > this.points)",
    "else if (res.consumedPoints > this.points + (this.points && 1))",
  );

interface ActionStep {
  base: string;
  head: string;
  work: string;
}

/** One of the action's scripts, with the settings that the action has by default. */
async function actionStep(name: string, { base, head, work }: ActionStep) {
  const env = {
    TARGET,
    BUILD: "true",
    BASE: base,
    HEAD: head,
    WORK: work,
    XDG_STATE_HOME: join(home, "state"),
    GITHUB_OUTPUT: join(work, "outputs"),
  };
  const { exitCode } = await execa(join(root, "scripts/ci", name), [], {
    cwd: checkout,
    env,
    stdout: "ignore",
    stderr: "inherit",
    reject: false,
  });
  if (exitCode !== 0) throw new Error(`${name} ended with ${exitCode}`);
}

function outputsOf(work: string): Record<string, string> {
  const lines = readFileSync(join(work, "outputs"), "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("=") as [string, string]));
}

const VERDICTS = { "0": "passes", "6": "fails", "7": "not decided" } as const;

/** One gate, with the verdict that the action would have. */
async function gate(base: string, head: string) {
  const work = mkdtempSync(join(home, "work-"));
  const startedAt = performance.now();
  await actionStep("prepare-sides.sh", { base, head, work });
  await actionStep("measure-sides.sh", { base, head, work });
  const minutes = (performance.now() - startedAt) / 60_000;
  const { code = "", campaign = "" } = outputsOf(work);
  const verdict = VERDICTS[code as keyof typeof VERDICTS];
  const comment = readFileSync(join(work, "comparison.md"), "utf8");
  const headline = comment.split("\n")[0]?.replace(/^\*\*[^*]*\*\*: /, "") ?? "";
  const base_us = cpuUsOf(campaign);
  const packages = ["base", "head"].map((side) => join(work, side));
  return { work, verdict, headline, minutes, base_us, packages };
}

/** The requests per second of one measurement without repetition. */
async function naive(limiter: string, storePort: number): Promise<number> {
  const env = { LIMITER: limiter, STORE_PORT: String(storePort) };
  const server = await MeasuredServer.start("bench/naive-app.mjs", env, "/");
  try {
    const { requests } = (await autocannon({
      url: server.url,
      connections: NAIVE_CONNECTIONS,
      duration: NAIVE_SECONDS,
    })) as { requests: { average: number } };
    return requests.average;
  } finally {
    await server.stop();
  }
}

/** One gate beside its naive job, and the CPU time of a request with the base, in µs. */
async function measured(head: HeadKind, base: string, commit: string, storePort: number) {
  const { work, verdict, headline, minutes, base_us, packages } = await gate(base, commit);
  const [before = "", after = ""] = packages;
  const before_per_second = await naive(before, storePort);
  const after_per_second = await naive(after, storePort);
  const fails = after_per_second < NAIVE_SHARE * before_per_second;
  for (const folder of packages) await git("worktree", "remove", "--force", folder);
  rmSync(work, { recursive: true, force: true });
  console.log(`${head}: ${verdict}: ${headline}; the naive job ${fails ? "fails" : "passes"}`);
  const record = {
    machine: `${cpus()[0]?.model ?? "an unknown CPU"}, ${cpus().length} CPUs`,
    node: process.versions.node,
    measured_at: new Date().toISOString(),
    head,
    verdict,
    headline,
    minutes,
    naive: { before_per_second, after_per_second, fails },
  };
  return { record, base_us };
}

/** The commits of the package itself. */
async function equalCommits() {
  mkdirSync(checkout);
  await execa("cp", ["-R", `${join(root, "node_modules", PACKAGE)}/.`, checkout]);
  await git("init", "--quiet");
  return { base: await commitOf("base"), equal: await commitOf("equal") };
}

/** @param base_us what a request costs here, of which the planted work is a share */
async function plantedCommits(base_us: number) {
  const file = join(checkout, FILE);
  const source = readFileSync(file, "utf8");
  writeFileSync(file, withWork(source, SLOWER_SHARE * base_us * roundsPerUs()));
  const slower = await commitOf("slower");
  writeFileSync(file, withOneMore(source));
  return { slower, "off-by-one": await commitOf("off by one") };
}

const writtenGates = (output: string): Gates =>
  existsSync(output)
    ? gatesSchema.parse(JSON.parse(readFileSync(output, "utf8")))
    : { package: PACKAGE, gates: [] };

async function measureAll(output: string): Promise<void> {
  const document = writtenGates(output);
  const store = await TestStore.start();
  const add = (record: Gates["gates"][number]): void => {
    document.gates.push(record);
    writeFileSync(output, `${JSON.stringify(document, null, 2)}\n`);
  };
  try {
    const { base, equal } = await equalCommits();
    // The first gate of each start has equal sides, and tells what a request costs here.
    const first = await measured("equal", base, equal, store.port);
    add(first.record);
    const heads = { equal, ...(await plantedCommits(first.base_us)) };
    for (const head of remainingHeads(document.gates, COUNTS))
      add((await measured(head, base, heads[head], store.port)).record);
  } finally {
    await store.stop();
  }
}

const page = flagValue("--page", "");
try {
  if (page) {
    const document = gatesSchema.parse(JSON.parse(readFileSync(page, "utf8")));
    writeFileSync(join(root, PAGE), gatePage(document));
  } else await measureAll(flagValue("--output", "results/gate.json"));
} finally {
  rmSync(home, { recursive: true, force: true });
}
