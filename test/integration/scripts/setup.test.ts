import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { programOnPath, ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

test.each([
  [["--help"], 0, "--dev"],
  [["--bogus"], 2, "--bogus"],
  [["--dev", "--kubernetes"], 2, "--dev"],
])("%j installs nothing", (words, code, part) => {
  const { status, stdout, stderr } = spawnSync("bash", ["scripts/setup.sh", ...words], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(status).toBe(code);
  expect(code === 0 ? stdout : stderr).toContain(part);
});

/** What stands in for npm: it puts the packages that setup.sh needs where npm would. */
const NPM = `
for name in typescript @kubernetes/client-node vitest; do
  mkdir -p "node_modules/$name" && echo '{}' >"node_modules/$name/package.json"
done
cp package-lock.json node_modules/installed.json`;

/** What stands in for Python: its environment is a copy of itself, and it installs nothing. */
const PYTHON =
  'case $* in "-m venv"*) mkdir -p .venv/bin; rm -f .venv/bin/python; cp "$0" .venv/bin/python;; esac';

/** Python, whose environments borrow the pip of this checkout: to unpack one takes seconds. */
const BORROWED_PIP = `
case $* in
  "-m venv"*)
    ${programOnPath("python3")} "$@" --without-pip
    ln -s ${join(ROOT, ".venv")}/lib/python*/site-packages/pip .venv/lib/python*/site-packages/ ;;
  *) exec ${programOnPath("python3")} "$@" ;;
esac`;

/**
 * A checkout without packages of either kind: setup.sh is as it stands. @param npm and `python`
 * empty: the real one
 */
function checkout({ npm = NPM, python = PYTHON } = {}) {
  const root = newFolder();
  const program = (path: string, text: string) => {
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
  };
  for (const name of ["scripts", "first on PATH"]) mkdirSync(join(root, name));
  copyFileSync(join(ROOT, "scripts/setup.sh"), join(root, "scripts/setup.sh"));
  program(join(root, "scripts/build.sh"), "true");
  const devDependencies = {
    "@kubernetes/client-node": "1.0.0",
    typescript: "1.0.0",
    vitest: "1.0.0",
  };
  writeFileSync(join(root, "package.json"), JSON.stringify({ devDependencies }));
  writeFileSync(
    join(root, "package-lock.json"),
    JSON.stringify({ packages: { "": { devDependencies } } }),
  );
  for (const name of ["requirements.txt", "requirements-dev.txt"])
    writeFileSync(join(root, name), "");
  const first = join(root, "first on PATH");
  if (npm) program(join(first, "npm"), npm);
  if (python) program(join(first, "python3"), python);
  return {
    root,
    setUp: (flags: readonly string[] = [], variables: Readonly<Record<string, string>> = {}) => {
      const PATH = [first, process.env.PATH].join(delimiter);
      const ended = spawnSync(join(root, "scripts/setup.sh"), flags, {
        encoding: "utf8",
        env: { ...process.env, PATH, ...variables },
      });
      return { code: ended.status, stderr: ended.stderr };
    },
    /** What npm installed of devDependencies. */
    installed: () => {
      const { packages } = JSON.parse(
        readFileSync(join(root, "node_modules/installed.json"), "utf8"),
      );
      return Object.keys(packages[""].devDependencies);
    },
    /** Another python3 comes first from now on. */
    putFirst: (text: string) => program(join(first, "python3"), text),
  };
}
const installing = /installing Python packages/;

test("the Python environment is made once, whichever python3 is first on PATH later, and again where its own has gone", () => {
  const { root, setUp, putFirst } = checkout();
  const outcome = setUp();
  expect(outcome).toEqual({ code: 0, stderr: expect.stringMatching(installing) });
  const stamp = readFileSync(join(root, ".venv/.requirements-stamp"), "utf8");
  for (const version of ["3.99.0", "3.8.1"]) {
    putFirst(
      `echo Python ${version}; case $* in *version_info*) exit ${version === "3.8.1" ? 1 : 0};; esac`,
    );
    expect(setUp()).toEqual({ code: 0, stderr: "" });
  }
  expect(readFileSync(join(root, ".venv/.requirements-stamp"), "utf8")).toBe(stamp);

  // Its own has gone.
  putFirst(PYTHON);
  rmSync(join(root, ".venv/bin/python"));
  symlinkSync(join(root, "nowhere"), join(root, ".venv/bin/python"));
  expect(setUp()).toEqual({ code: 0, stderr: expect.stringMatching(installing) });
  expect(existsSync(join(root, ".venv/bin/python"))).toBe(true);
});

test("campaigns, Kubernetes and tests get what they need, and what needs less uses what is there", () => {
  const { root, setUp, installed } = checkout();
  const isInstalling = (...flags: string[]) => {
    const { code, stderr } = setUp(flags);
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

/**
 * A package of npm as a tarball with a program, and a wheel; both named `tiny`. @returns the
 * requirement of the wheel
 */
function makePackages(root: string): string {
  const source = join(root, "tiny/package");
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, "package.json"), '{"name":"tiny","version":"1.0.0","bin":"run.js"}');
  writeFileSync(join(source, "run.js"), "#!/usr/bin/env node\n");
  execFileSync("tar", ["-czf", join(root, "tiny.tgz"), "-C", join(root, "tiny"), "package"]);
  const wheel = `
import hashlib, sys, zipfile
with zipfile.ZipFile("tiny-1.0-py3-none-any.whl", "w") as archive:
    archive.writestr("tiny.py", "")
    archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n")
    archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    archive.writestr("tiny-1.0.dist-info/RECORD", "")
print(hashlib.sha256(open(archive.filename, "rb").read()).hexdigest())`;
  const digest = execFileSync("python3", ["-c", wheel], { cwd: root, encoding: "utf8" }).trim();
  return `./tiny-1.0-py3-none-any.whl --hash=sha256:${digest}\n`;
}

/** A lock file with one package for development only. */
function writeLock(root: string): void {
  const manifest = {
    name: "own",
    version: "1.0.0",
    devDependencies: { tiny: `file:${root}/tiny.tgz` },
  };
  const tiny = {
    version: "1.0.0",
    resolved: `file:${root}/tiny.tgz`,
    dev: true,
    bin: { tiny: "run.js" },
  };
  const packages = { "": manifest, "node_modules/tiny": tiny };
  writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
  writeFileSync(
    join(root, "package-lock.json"),
    JSON.stringify({ ...manifest, lockfileVersion: 3, requires: true, packages }),
  );
}

test("settings of npm, pip, another Python and the shell do not decide what is installed, and where", () => {
  const { root, setUp } = checkout({ npm: "", python: "" });
  writeFileSync(join(root, "requirements.txt"), makePackages(root));
  writeLock(root);
  const elsewhere = join(root, "elsewhere");
  mkdirSync(join(elsewhere, "scripts"), { recursive: true });
  // Each of them alone stopped set-up, or left something out.
  const ended = setUp(["--dev"], {
    NODE_ENV: "production",
    NODE_OPTIONS: "--require /nowhere.cjs",
    CDPATH: elsewhere,
    PYTHONHOME: elsewhere,
    PYTHONPATH: elsewhere,
    npm_config_omit: "dev",
    npm_config_global: "true",
    npm_config_dry_run: "true",
    npm_config_bin_links: "false",
    PIP_USER: "1",
    PIP_TARGET: elsewhere,
    PIP_PREFIX: elsewhere,
    PIP_DRY_RUN: "1",
    PIP_PYTHON: "/nowhere",
    PIP_REQUIRE_VIRTUALENV: "1",
  });
  expect(ended).toMatchObject({ code: 0 });
  expect(existsSync(join(root, "node_modules/.bin/tiny"))).toBe(true);
  const library = join(
    root,
    ".venv/lib",
    String(readdirSync(join(root, ".venv/lib"))[0]),
    "site-packages",
  );
  expect(existsSync(join(library, "tiny.py"))).toBe(true);
  expect(readdirSync(elsewhere)).toEqual(["scripts"]);
});

test.each([
  ["npm", "node_modules/.setup-stamp", ""],
  [
    "pip",
    ".venv/.requirements-stamp",
    "[install]\ndry-run = true\nno-index = true\nfind-links = .",
  ],
])("what %s leaves out is no set-up that is done", (name, stamp, configuration) => {
  const { root, setUp } = checkout({ python: BORROWED_PIP });
  if (name === "npm") writeLock(root);
  else {
    const digest = makePackages(root).split(" ")[1];
    writeFileSync(join(root, "requirements.txt"), `tiny==1.0 ${digest}`);
  }
  writeFileSync(join(root, "pip.conf"), configuration);
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(
      setUp(["--dev"], { PIP_CONFIG_FILE: join(root, "pip.conf"), PIP_FIND_LINKS: "" }).code,
    ).toBe(3);
    expect(existsSync(join(root, stamp))).toBe(false);
  }
});
