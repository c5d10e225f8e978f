import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { measuredResultSchema } from "../../../src/contract/result.js";
import { build, ROOT } from "../../helpers/programs.js";

const home = mkdtempSync(join(tmpdir(), "ratelimit bench test-"));
let project: string;
let tarball: string;
let env: NodeJS.ProcessEnv;

/** The installed command, in a folder with a space in its name that holds nothing else. */
function installed(...parameters: string[]) {
  const command = "node_modules/.bin/ratelimit-bench";
  const ended = spawnSync(command, parameters, { cwd: project, env, encoding: "utf8" });
  return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}

/**
 * The Python environment of the checkout stands where the package looks for its own: making one
 * takes a minute, and test/report/environment/test_virtual_environment.py shows that it is made.
 */
function lendEnvironment(folderOfPackage: string): void {
  const where = "import report.environment.virtual_environment as e; print(e.cached_environment())";
  const folder = execFileSync("python3", ["-c", where], {
    env: { ...env, PYTHONPATH: folderOfPackage, PYTHONDONTWRITEBYTECODE: "1" },
    encoding: "utf8",
  }).trim();
  mkdirSync(folder, { recursive: true });
  for (const name of ["bin", "lib", "pyvenv.cfg"])
    symlinkSync(join(ROOT, ".venv", name), join(folder, name));
  const version = "import sys; print('%d.%d' % sys.version_info[:2], end='')";
  writeFileSync(
    join(folder, ".complete"),
    execFileSync(join(ROOT, ".venv/bin/python"), ["-c", version], { encoding: "utf8" }),
  );
}

beforeAll(() => {
  build();
  project = join(home, "a project");
  mkdirSync(project);
  env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    npm_config_cache: process.env.npm_config_cache,
    XDG_CACHE_HOME: join(home, "cache"),
    XDG_STATE_HOME: join(home, "state"),
    TMPDIR: home,
  };
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", home], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  tarball = join(
    home,
    (JSON.parse(packed.slice(packed.search(/^\[/m))) as { filename: string }[])[0]?.filename ?? "",
  );
  writeFileSync(join(project, "package.json"), "{}");
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const parameters = ["install", "--ignore-scripts", "--prefer-offline", ...quiet, tarball];
  execFileSync("npm", parameters, { cwd: project, env, stdio: ["ignore", "ignore", "inherit"] });
  lendEnvironment(join(project, "node_modules/ratelimit-bench"));
}, 300_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What is packed. */
const packedNames = (): string[] =>
  execFileSync("tar", ["tzf", tarball], { encoding: "utf8" })
    .split("\n")
    .map((name) => name.replace(/^package\//, ""));

test("the package holds what it runs and builds images from, and nothing that only a checkout needs", () => {
  const names = packedNames();
  const needed = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length));
  expect(names).toEqual(expect.arrayContaining(needed));
  // Everything that a Dockerfile may copy: .dockerignore lists it.
  for (const line of readFileSync(join(ROOT, ".dockerignore"), "utf8").split("\n")) {
    const name = /^!(.+)/.exec(line)?.[1];
    // npm never packs package-lock.json; npm-shrinkwrap.json stands for it.
    if (!name || name === "package-lock.json") continue;
    expect(
      names.some((packed) => packed === name || packed.startsWith(`${name}/`)),
      name,
    ).toBe(true);
  }
  expect(existsSync(join(ROOT, "npm-shrinkwrap.json"))).toBe(false);
  const foreign =
    /^(test|results(?!\/(example\/|example\.tar\.xz$|standing\.txt$|(audits|claims|original-matrix|questions)\.md$|gate\.json$))|node_modules|\.venv|\.ci|scripts\/(bench|ci|setup\.|build|run-|test))|\.pyc$|requirements-dev/;
  expect(names.filter((name) => foreign.test(name))).toEqual([]);
});

test("it installs without what only Kubernetes needs, and a campaign there names the command that installs it", () => {
  expect(existsSync(join(project, "node_modules/@kubernetes"))).toBe(false);
  const run = installed("run", "--runtime", "kubernetes", "--clients", "none");
  expect(run.code).toBe(3);
  expect(run.stderr).toMatch(/npm install @kubernetes\/client-node@\d+\.\d+\.\d+/);
});

test("--version names the installed versions of all clients, limiters and stores", () => {
  const { code, stdout, stderr } = installed("--version");
  expect([code, stderr]).toEqual([0, ""]);
  const { version, dependencies } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  ) as {
    version: string;
    dependencies: Record<string, string>;
  };
  expect(stdout).toContain(`ratelimit-bench ${version}\nnode ${process.versions.node}\n`);
  for (const [line, name] of [
    ["valkey-glide", "@valkey/valkey-glide"],
    ["iovalkey", "iovalkey"],
    ["ioredis", "ioredis"],
    ["node-redis", "redis"],
    ["rate-limiter-flexible", "rate-limiter-flexible"],
    ["autocannon", "autocannon"],
    ["fastify", "fastify"],
  ] as const) {
    expect(stdout).toMatch(
      new RegExp(`^ +${line} +${dependencies[name]?.replaceAll(".", "\\.")}$`, "m"),
    );
  }
  expect(stdout).toMatch(/^ +valkey +\d+\.\d+\.\d+ .*; in containers valkey\/valkey:/m);
});

test("--help lists the commands", () => {
  const { code, stdout } = installed("--help");
  expect(code).toBe(0);
  const names = [...stdout.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, name]) => name ?? "");
  expect(names).toEqual(
    expect.arrayContaining(["run", "single", "clean", "version", "completion", "help"]),
  );
});

test("a campaign runs, its result is valid, and its report is in ./results", () => {
  const flags =
    "--duration-mode custom:1 --warmup 0.2 --cooldown 0 --runs 1 --concurrency 4 --runtime local";
  const { code, stderr } = installed("run", "--clients", "none", ...flags.split(" "));
  expect(code, stderr).toBe(0);
  const folder = join(project, "results/latest");
  const runs = readdirSync(folder).filter((name) => /_run\d+\.json$/.test(name));
  expect(runs).toHaveLength(1);
  const { verdict } = measuredResultSchema.parse(
    JSON.parse(readFileSync(join(folder, runs[0] ?? ""), "utf8")),
  );
  expect(verdict.status, JSON.stringify(verdict)).not.toBe("invalid");
  expect(readFileSync(join(folder, "report/index.html"), "utf8")).toContain("</html>");
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  expect(manifest.harness).not.toHaveProperty("git_revision");
});

test("`report` compares campaigns with the environment of the campaign", () => {
  const several = installed("report", "--compare-runs", "--include-trends");
  expect([several.code, several.stderr]).toEqual([0, ""]);
  expect(several.stdout.trim()).toBe(join(realpathSync(project), "results/report/index.html"));
  expect(existsSync(join(project, "results/report/trends.html"))).toBe(true);
});
