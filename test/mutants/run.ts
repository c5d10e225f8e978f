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
import { parseAst } from "vitest/node";
import { parse } from "yaml";
import { z } from "zod";
import { ROOT } from "../helpers/programs.js";
import { bugSchema, type Node, withBug } from "./place.js";

/**
 * Plants each bug of `mutants.yaml` in a copy of the tree and runs the test that must catch it.
 * Fails if a test does not catch its bug or fails without any bug, and before that if the place of
 * any bug is gone.
 *   run.ts [WORD…]  only bugs whose file or description contains one of the words
 */
const PYTHON = join(ROOT, ".venv/bin/python");
const LIMIT_MS = 300_000;
const problems: string[] = [];

const listSchema = z.record(
  z.string(),
  z.array(z.strictObject({ what: z.string(), bug: bugSchema, test: z.string().optional() })),
);
const list = listSchema.parse(parse(readFileSync(join(ROOT, "test/mutants/mutants.yaml"), "utf8")));

interface Mutant {
  what: string;
  file: string;
  /** The file with the bug. */
  text: string;
  test: string;
}

/**
 * `src/judge/latency.ts` → `test/unit/judge/latency.test.ts`, and `report/statistics/decision.py` →
 * `test/report/statistics/test_decision.py`.
 */
const ownTest = (file: string): string =>
  file.endsWith(".py")
    ? file.replace(/^report\/(.*?)(\w+\.py)$/, "test/report/$1test_$2")
    : file.replace(/^src\/(.*)\.ts$/, "test/unit/$1.test.ts");

function treesOf(files: readonly string[]): ReadonlyMap<string, Node> {
  const python = files.filter((file) => file.endsWith(".py"));
  const printed = execFileSync(PYTHON, [join(ROOT, "test/mutants/python_tree.py"), ...python], {
    cwd: ROOT,
    maxBuffer: 2 ** 30,
  });
  const trees: Node[] = JSON.parse(printed.toString("utf8"));
  return new Map(
    files.map((file) => [
      file,
      trees[python.indexOf(file)] ?? (parseAst(sourceOf(file), { lang: "ts" }) as unknown as Node),
    ]),
  );
}

const sourceOf = (file: string): string => readFileSync(join(ROOT, file), "utf8");

function mutantsOf(): Mutant[] {
  const trees = treesOf(Object.keys(list).filter((file) => existsSync(join(ROOT, file))));
  return Object.entries(list).flatMap(([file, bugs]) =>
    bugs.flatMap(({ what, bug, test = ownTest(file) }) => {
      const tree = trees.get(file);
      try {
        if (!tree) throw new Error("there is no such file");
        return [
          { what, file, text: withBug(sourceOf(file), tree, bug, file.endsWith(".py")), test },
        ];
      } catch (error) {
        problems.push(`${file}: ${what}: ${(error as Error).message}`);
        return [];
      }
    }),
  );
}

/** Copies the tree with its uncommitted changes; links to its packages. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "ratelimit-bench-mutants-"));
  const listed = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    {
      cwd: ROOT,
    },
  );
  for (const file of listed.toString("utf8").split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    try {
      copyFileSync(join(ROOT, file), join(copy, file));
    } catch (error) {
      // The file was removed, but the removal is not committed.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  for (const packages of ["node_modules", ".venv"])
    symlinkSync(join(ROOT, packages), join(copy, packages));
  return copy;
}

/** @returns undefined if the test passes, otherwise how it ended */
function failure(test: string, tree: string): Promise<string | undefined> {
  const [program, ...words] = test.endsWith(".py")
    ? [PYTHON, "-m", "pytest", "-x", test]
    : [
        process.execPath,
        join(ROOT, "node_modules/vitest/vitest.mjs"),
        "run",
        "--bail=1",
        "--retry=0",
        test,
      ];
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
    // The group has ended already.
  }
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Plants the bug, runs its test, and restores the file. */
async function tryMutant({ what, file, text, test }: Mutant, tree: string): Promise<void> {
  writeFileSync(join(tree, file), text);
  const found = await failure(test, tree);
  copyFileSync(join(ROOT, file), join(tree, file));
  print(`${found ? "caught  " : "SURVIVED"} ${file}: ${what} (${test})`);
  if (!found) problems.push(`${file}: ${what}: ${test} does not catch it`);
}

/** Runs `work` for each item, one at a time in each tree. */
async function inTrees<Item>(
  items: readonly Item[],
  trees: readonly string[],
  work: (item: Item, tree: string) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const worker = async (tree: string): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
      await work(item, tree);
  };
  await Promise.all(trees.map(worker));
}

const mutants = mutantsOf();
const words = process.argv.slice(2);
const chosen =
  problems.length > 0
    ? []
    : mutants.filter(
        ({ what, file }) =>
          words.length === 0 || words.some((word) => `${file} ${what}`.includes(word)),
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
  await inTrees(chosen, trees, tryMutant);
} finally {
  removeTrees();
}
print(`${chosen.length} bugs planted, ${problems.length} problems`);
for (const problem of problems) print(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
