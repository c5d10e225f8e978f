import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../helpers/programs.js";
import type { Mutant } from "./mutant.js";
import { programs } from "./programs.js";
import { pure } from "./pure.js";
import { report } from "./report.js";

/**
 * Plants each bug of the list, in copies of the tree, and runs the test that must see it. Fails when one is not seen,
 * when its text no longer stands in its file exactly once, or when a test fails without any bug.
 *   run.ts [WORD…]  those alone whose file or description has one of the words
 */
const mutants = [...pure, ...programs, ...report];
const LIMIT_MS = 300_000;

/** The tree as it is, uncommitted changes too; packages are shared with it. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "ratelimit-bench-mutants-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
  });
  for (const file of listed.toString("utf8").split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    try {
      copyFileSync(join(ROOT, file), join(copy, file));
    } catch (error) {
      // Removed, and the removal is not committed.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  for (const packages of ["node_modules", ".venv"]) symlinkSync(join(ROOT, packages), join(copy, packages));
  return copy;
}

/** @returns undefined when the test passes, else how it ended */
function failure(test: string, tree: string): Promise<string | undefined> {
  const [program, ...words] = test.endsWith(".py")
    ? [join(ROOT, ".venv/bin/python"), "-m", "pytest", "-x", test]
    : [process.execPath, join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--bail=1", test];
  const child = spawn(program ?? "", words, { cwd: tree, stdio: "ignore", detached: true });
  running.add(child.pid ?? 0);
  return new Promise((resolve) => {
    const end = setTimeout(() => {
      endGroup(child.pid ?? 0);
      resolve("did not end");
    }, LIMIT_MS);
    child.once("close", (code) => {
      clearTimeout(end);
      running.delete(child.pid ?? 0);
      resolve(code === 0 ? undefined : `ended with ${code}`);
    });
  });
}

const running = new Set<number>();
function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}

const problems: string[] = [];
const tell = (line: string): void => void process.stdout.write(`${line}\n`);

/** Plants it, tests, and takes it out again. */
async function judge({ what, file, find, replace, test }: Mutant, tree: string): Promise<void> {
  const path = join(tree, file);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const times = text.split(find).length - 1;
  if (times !== 1) {
    problems.push(`${file} holds ${times} times: ${find}`);
    return;
  }
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
  const found = await failure(test, tree);
  writeFileSync(path, text);
  tell(`${found ? "caught  " : "SURVIVED"} ${file}: ${what} (${test})`);
  if (!found) problems.push(`${file}: ${what}: ${test} does not see it`);
}

/** Runs `work` for each of the things, as many at once as there are trees. */
async function inTrees<Thing>(
  things: readonly Thing[],
  trees: readonly string[],
  work: (thing: Thing, tree: string) => Promise<void>,
): Promise<void> {
  const waiting = [...things];
  const worker = async (tree: string): Promise<void> => {
    for (let thing = waiting.shift(); thing !== undefined; thing = waiting.shift()) await work(thing, tree);
  };
  await Promise.all(trees.map(worker));
}

const words = process.argv.slice(2);
const chosen = mutants.filter(
  ({ what, file }) => words.length === 0 || words.some((word) => `${file} ${what}`.includes(word)),
);
const trees = Array.from({ length: Math.min(availableParallelism(), 4) }, copyTree);
const removeTrees = () => {
  for (const pid of running) endGroup(pid);
  for (const tree of trees) rmSync(tree, { recursive: true, force: true });
};
process.once("SIGINT", () => {
  removeTrees();
  process.exit(130);
});
process.once("SIGTERM", () => {
  removeTrees();
  process.exit(143);
});
try {
  await inTrees([...new Set(chosen.map(({ test }) => test))], trees, async (test, tree) => {
    const found = await failure(test, tree);
    if (found) problems.push(`${test} ${found} without any bug`);
  });
  await inTrees(chosen, trees, judge);
} finally {
  removeTrees();
}
tell(`${chosen.length} bugs were planted, ${problems.length} problems`);
for (const problem of problems) tell(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
