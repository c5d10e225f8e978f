import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

/** A checkout without packages of either kind: setup.sh is as it stands, what it calls for Node.js does nothing. */
function checkout() {
  const root = newFolder();
  const program = (path: string, text: string) => {
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  };
  for (const name of ["scripts", "first on PATH"]) mkdirSync(join(root, name));
  copyFileSync(join(ROOT, "scripts/setup.sh"), join(root, "scripts/setup.sh"));
  program(join(root, "scripts/build.sh"), "true");
  for (const name of ["package-lock.json", "requirements.txt"]) writeFileSync(join(root, name), "");
  const first = join(root, "first on PATH");
  program(join(first, "npm"), "mkdir -p node_modules");
  return {
    root,
    setUp: () => {
      const PATH = [first, process.env.PATH].join(delimiter);
      const ended = spawnSync(join(root, "scripts/setup.sh"), {
        encoding: "utf8",
        env: { ...process.env, PATH },
      });
      return { code: ended.status, stderr: ended.stderr };
    },
    /** Another python3 comes first from now on. */
    putFirst: (text: string) => program(join(first, "python3"), text),
  };
}
const installing = /installing Python packages/;

test("the Python environment is made once, whichever python3 is first on PATH later, and again where its own has gone", () => {
  const { root, setUp, putFirst } = checkout();
  const made = setUp();
  expect(made).toEqual({ code: 0, stderr: expect.stringMatching(installing) });
  const stamp = readFileSync(join(root, ".venv/.requirements-stamp"), "utf8");
  for (const version of ["3.99.0", "3.8.1"]) {
    putFirst(`echo Python ${version}; case $* in *version_info*) exit ${version === "3.8.1" ? 1 : 0};; esac`);
    expect(setUp()).toEqual({ code: 0, stderr: "" });
  }
  expect(readFileSync(join(root, ".venv/.requirements-stamp"), "utf8")).toBe(stamp);

  // Its own has gone.
  rmSync(join(root, "first on PATH/python3"));
  rmSync(join(root, ".venv/bin/python"));
  symlinkSync(join(root, "nowhere"), join(root, ".venv/bin/python"));
  expect(setUp()).toEqual({ code: 0, stderr: expect.stringMatching(installing) });
  expect(existsSync(join(root, ".venv/bin/python"))).toBe(true);
});
