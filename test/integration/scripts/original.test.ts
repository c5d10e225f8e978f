import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

const run = (line: string) =>
  promisify(execFile)("bash", ["-c", line], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: newFolder(), XDG_STATE_HOME: newFolder() },
  });

// What all its lines plan: test/unit/orchestrator/request/original.test.ts.
test.concurrent.each([
  ['./scripts/run-all.sh --clients valkey-glide --workload light --concurrency "50 100"', 6],
  ['./scripts/run-benchmark.sh --quick --limiters "valkey-glide"', 6],
  ["DURATION=60 CONNECTIONS=50 REQUEST_TYPE=light ./scripts/run-benchmark.sh", 1],
])("%s", async (line, runs) => {
  const { stdout } = await run(`${line} --dry-run --json --runtime local`);
  expect(JSON.parse(stdout).plan.runs).toHaveLength(runs);
});

test("check-config.sh takes the original's --dry-run", async () => {
  expect((await run("./scripts/check-config.sh --dry-run")).stdout).not.toBe("");
});
