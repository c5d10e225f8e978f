import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { build, ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();
const isClone = existsSync(join(ROOT, ".git"));

/**
 * A clone of the last commit by a git that is set to CRLF, as on Windows; packages and build are
 * borrowed.
 */
function cloneWithCrlf(): string {
  const clone = join(newFolder(), "clone");
  execFileSync("git", ["-c", "core.autocrlf=true", "clone", "--quiet", "--shared", ROOT, clone]);
  build();
  for (const name of ["node_modules", "dist"]) symlinkSync(join(ROOT, name), join(clone, name));
  return clone;
}

test.skipIf(!isClone)(
  "a clone with CRLF runs, also with CDPATH and NODE_OPTIONS, and keeps what has a checksum",
  () => {
    const clone = cloneWithCrlf();
    const git = (folder: string, ...words: string[]) =>
      execFileSync("git", ["-C", folder, ...words], { encoding: "utf8", maxBuffer: 1e8 });
    expect(
      git(clone, "ls-files", "--eol")
        .split("\n")
        .filter((line) => /w\/(crlf|mixed)/.test(line)),
    ).toEqual([]);
    const kept = git(clone, "ls-files", "results").trim().split("\n");
    for (const name of kept) {
      const committed = execFileSync("git", ["-C", clone, "cat-file", "blob", `HEAD:${name}`], {
        maxBuffer: 1e8,
      });
      expect(readFileSync(join(clone, name)).equals(committed), name).toBe(true);
    }
    const env = { ...process.env, CDPATH: clone, NODE_OPTIONS: "--require /nowhere.cjs" };
    for (const name of ["run-all.sh", "run-benchmark.sh", "check-config.sh", "containers.sh"]) {
      const ended = spawnSync(`scripts/${name}`, ["--help"], { cwd: clone, env, encoding: "utf8" });
      expect(ended, name).toMatchObject({ status: 0, stdout: expect.not.stringContaining(clone) });
    }
    const checked = spawnSync("scripts/check-config.sh", ["--json"], {
      cwd: clone,
      env,
      encoding: "utf8",
    });
    expect(JSON.parse(checked.stdout).checks).toContainEqual(
      expect.objectContaining({ check: "node", status: "ok" }),
    );
  },
);
