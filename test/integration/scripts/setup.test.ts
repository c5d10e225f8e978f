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
  const devDependencies = { "@kubernetes/client-node": "1.0.0", typescript: "1.0.0", vitest: "1.0.0" };
  writeFileSync(join(root, "package.json"), JSON.stringify({ devDependencies }));
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages: { "": { devDependencies } } }));
  for (const name of ["requirements.txt", "requirements-dev.txt"]) writeFileSync(join(root, name), "");
  const first = join(root, "first on PATH");
  program(join(first, "npm"), "mkdir -p node_modules; cp package-lock.json node_modules/installed.json");
  return {
    root,
    setUp: (...flags: string[]) => {
      const PATH = [first, process.env.PATH].join(delimiter);
      const ended = spawnSync(join(root, "scripts/setup.sh"), flags, {
        encoding: "utf8",
        env: { ...process.env, PATH },
      });
      return { code: ended.status, stderr: ended.stderr };
    },
    /** What npm installed of devDependencies. */
    installed: () => {
      const { packages } = JSON.parse(readFileSync(join(root, "node_modules/installed.json"), "utf8"));
      return Object.keys(packages[""].devDependencies);
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

test("campaigns, Kubernetes and tests get what they need, and what needs less uses what is there", () => {
  const { root, setUp, putFirst, installed } = checkout();
  // It needs no time: its environment is a copy of itself, and it installs nothing.
  putFirst('case $* in "-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python;; esac');
  const isInstalling = (...flags: string[]) => {
    const { code, stderr } = setUp(...flags);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return /installing Node packages/.test(stderr);
  };
  expect([isInstalling(), installed()]).toEqual([true, ["typescript"]]);
  expect(isInstalling()).toBe(false);
  const withKubernetes = ["@kubernetes/client-node", "typescript"];
  expect([isInstalling("--kubernetes"), installed()]).toEqual([true, withKubernetes]);
  expect(isInstalling()).toBe(false);
  expect([isInstalling("--dev"), installed()]).toEqual([true, [...withKubernetes, "vitest"]]);
  expect([isInstalling("--kubernetes"), isInstalling(), isInstalling("--dev")]).toEqual([
    false,
    false,
    false,
  ]);

  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  writeFileSync(join(root, "package-lock.json"), `${lock}\n`);
  expect([isInstalling(), installed()]).toEqual([true, ["typescript"]]);
});
