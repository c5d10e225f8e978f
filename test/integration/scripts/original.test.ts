import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import type { Plan } from "../../../src/contract/plan.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

const run = (line: string) =>
  promisify(execFile)("bash", ["-c", line], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: newFolder(), XDG_STATE_HOME: newFolder() },
  });

/** The distinct values of a plan, as `targets | workloads | connections | seconds | runs`. */
function summaryOf({ configurations, runs_per_configuration }: Plan): string {
  const distinct = (values: unknown[]) => [...new Set(values)].join(" ");
  const all = configurations.map(({ configuration }) => configuration);
  return [
    distinct(all.map(({ target }) => target.label)),
    distinct(all.map(({ workload }) => workload.id)),
    distinct(all.map(({ load }) => load.connections)),
    distinct(all.map(({ extent }) => ("duration_s" in extent ? extent.duration_s : extent))),
    runs_per_configuration,
  ].join(" | ");
}

const STANDALONE = "valkey-glide iovalkey ioredis";
const CLUSTER = "valkey-glide:cluster iovalkey:cluster ioredis:cluster";
const LOADS = "50 100 500 1000";
const HEAVY = "light heavy";
/** A target alone gets a reference beside it. */
const GLIDE = "valkey-glide ioredis@valkey";

/**
 * The command lines in the README and in the help of the original, word by word, then each of its flags that none of them
 * has, and what each plans.
 */
const LINES: [line: string, plan: string][] = [
  [
    './scripts/run-all.sh --clients valkey-glide --workload light --duration-mode dynamic --concurrency "50 100"',
    `${GLIDE} | light | 50 100 | 120 | 3`,
  ],
  [
    './scripts/run-all.sh --clients standalone --workload both --duration-mode fixed30 --concurrency "50 100"',
    `${STANDALONE} | ${HEAVY} | 50 100 | 30 | 3`,
  ],
  [
    './scripts/run-all.sh --clients cluster --workload heavy --duration-mode custom:90 --concurrency "100 500"',
    `${CLUSTER} | heavy | 100 500 | 90 | 3`,
  ],
  [
    './scripts/run-all.sh --clients "valkey-glide,iovalkey:cluster" --workload light --duration-mode dynamic --concurrency "50 200 500"',
    "valkey-glide iovalkey:cluster | light | 50 200 500 | 120 150 180 210 | 3",
  ],
  [
    './scripts/run-all.sh --clients valkey-glide,ioredis --workload light --concurrency "50 100"',
    "valkey-glide ioredis | light | 50 100 | 120 | 3",
  ],
  [
    "./scripts/run-all.sh --clients cluster --duration-mode fixed30",
    `${CLUSTER} | ${HEAVY} | ${LOADS} | 30 | 3`,
  ],
  [
    "./scripts/run-all.sh --clients all --workload both --duration-mode dynamic",
    `${STANDALONE} ${CLUSTER} | ${HEAVY} | ${LOADS} | 120 150 180 210 | 3`,
  ],
  [
    "./scripts/run-all.sh --duration-mode fixed120",
    `${STANDALONE} ${CLUSTER} | ${HEAVY} | ${LOADS} | 120 | 3`,
  ],
  ["./scripts/run-benchmark.sh --defaults", `${STANDALONE} ${CLUSTER} | ${HEAVY} | ${LOADS} | 30 | 3`],
  ["./scripts/run-benchmark.sh --default", `${STANDALONE} ${CLUSTER} | ${HEAVY} | ${LOADS} | 30 | 3`],
  ["./scripts/run-benchmark.sh --clusters", `${CLUSTER} | ${HEAVY} | ${LOADS} | 150 | 3`],
  ["./scripts/run-benchmark.sh --cluster-only", `${CLUSTER} | ${HEAVY} | ${LOADS} | 150 | 3`],
  ["./scripts/run-benchmark.sh --standalone", `${STANDALONE} | ${HEAVY} | 50 100 500 | 120 | 3`],
  ["./scripts/run-benchmark.sh --standalone-only", `${STANDALONE} | ${HEAVY} | 50 100 500 | 120 | 3`],
  ["./scripts/run-benchmark.sh --quick", "valkey-glide iovalkey | light | 50 100 | 30 | 3"],
  ["./scripts/run-benchmark.sh --quick-mode", "valkey-glide iovalkey | light | 50 100 | 30 | 3"],
  [
    './scripts/run-benchmark.sh --time 60 --concurrency "50 100" --requests "light" --limiters "valkey-glide ioredis"',
    "valkey-glide ioredis | light | 50 100 | 60 | 3",
  ],
  [
    './scripts/run-benchmark.sh --duration 120 --limiters "valkey-glide:cluster iovalkey:cluster"',
    `valkey-glide:cluster iovalkey:cluster | ${HEAVY} | ${LOADS} | 120 | 3`,
  ],
  ['./scripts/run-benchmark.sh --quick --limiters "valkey-glide"', "valkey-glide | light | 50 100 | 30 | 3"],
  [
    './scripts/run-benchmark.sh --request-types "heavy" --rate-limiters "ioredis" --time 9',
    `ioredis | heavy | ${LOADS} | 9 | 3`,
  ],
  [
    "DURATION=60 CONNECTIONS=50 REQUEST_TYPE=light RATE_LIMITER_TYPE=valkey-glide ./scripts/run-benchmark.sh",
    "valkey-glide | light | 50 | 60 | 1",
  ],
  [
    "SKIP_LONG_TESTS=true DEBUG_MODE=true COMPUTATION_COMPLEXITY=5 ./scripts/run-benchmark.sh --standalone",
    `${STANDALONE} | ${HEAVY} | 50 100 500 | 30 | 1`,
  ],
];

describe("the original's command line", () => {
  test.concurrent.each(LINES)("%s", async (line, plan) => {
    const { stdout } = await run(`${line} --dry-run --json --runtime local`);
    expect(summaryOf(JSON.parse(stdout).plan)).toBe(plan);
  });

  test.concurrent.each([
    "./scripts/run-all.sh --help",
    "./scripts/run-benchmark.sh --help",
    "./scripts/run-benchmark.sh -h",
    "./scripts/check-config.sh --help",
    "./scripts/check-config.sh --dry-run",
    "./scripts/fix-network.sh --help",
    "./scripts/setup-podman.sh --help",
  ])("%s", async (line) => {
    expect((await run(line)).stdout).not.toBe("");
  });
});
