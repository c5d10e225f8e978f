import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolders } from "../helpers/folders.js";
import { ROOT } from "../helpers/programs.js";
import { step, steps } from "../helpers/workflows.js";

const newFolder = temporaryFolders();

interface Package {
  version?: string;
  optional?: boolean;
  hasInstallScript?: boolean;
  engines?: { node?: string } | string[];
}
const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Package> };
const own = JSON.parse(read("package.json"));
const { satisfies } = createRequire(import.meta.url)("semver") as {
  satisfies(version: string, range: string): boolean;
};

describe("every package that is installed", () => {
  const oldest = /^>=(\d+\.\d+)$/.exec(own.engines.node)?.[1];

  test("admits the oldest Node.js that we promise", () => {
    const refusing = Object.entries(packages).filter(
      ([, { optional, engines }]) =>
        !optional &&
        !Array.isArray(engines) &&
        engines?.node &&
        !satisfies(`${oldest}.0`, engines.node),
    );
    expect(refusing.map(([path, { version }]) => `${path} ${version}`)).toEqual([]);
  });

  test("runs no script as it is installed: none is needed", () => {
    const scripted = Object.entries(packages).filter(
      ([, { hasInstallScript }]) => hasInstallScript,
    );
    const names = scripted.map(([path]) => path.replace(/.*node_modules\//, ""));
    // For versions of npm that read it, whoever calls them.
    expect(own.allowScripts).toEqual(
      Object.fromEntries([...new Set(names)].sort().map((name) => [name, false])),
    );
    const files = [
      "README.md",
      "docs/offline.md",
      "Dockerfile.server",
      "Dockerfile.loadtest",
      "scripts/setup.sh",
      "scripts/ci/make-plugin.sh",
      "scripts/ci/prepare-sides.sh",
      ".github/workflows/ci.yml",
      ".github/workflows/release.yml",
    ];
    for (const name of files) {
      // In `BUILD`, the client's own build decides.
      for (const line of read(name)
        .split("\n")
        .filter((each) => /npm (ci|i|install) (?!&&)/.test(`${each} `)))
        expect(line, name).toContain("--ignore-scripts");
    }
  });
});

test("CI takes a package that does not admit its Node.js for an error", () => {
  expect(read(".ci/run")).toContain("npm_config_engine_strict=true");
  const installs = steps("ci.yml").filter(({ run = "" }) => run.startsWith("npm ci"));
  expect(installs.map(({ run }) => run)).toEqual(["npm ci --ignore-scripts --engine-strict"]);
});

test("a release names the repository that makes it", () => {
  const folder = newFolder();
  mkdirSync(join(folder, "scripts/ci"), { recursive: true });
  for (const name of ["package.json", "scripts/ci/common.sh", "scripts/ci/name-repository.sh"])
    copyFileSync(join(ROOT, name), join(folder, name));
  const address = "https://git.example/somebody/fork";
  execFileSync(join(folder, "scripts/ci/name-repository.sh"), [address], { stdio: "ignore" });
  expect(JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))).toEqual({
    ...own,
    repository: { type: "git", url: `git+${address}.git` },
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
  });
  expect(step(steps("release.yml"), "Tarball").run).toContain("scripts/ci/name-repository.sh");
});
