import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { isSetUp, ROOT } from "../../helpers/programs.js";
import { action, environmentOf, step, steps } from "../../helpers/workflows.js";

const newFolder = temporaryFolders();
const CI = join(ROOT, "scripts/ci");

type Env = Readonly<Record<string, string>>;

/** Runs text as a runner does: `bash -eo pipefail` on a file. */
function shell(text: string, cwd: string, env: Env = {}) {
  const home = newFolder();
  const file = join(home, "step.sh");
  writeFileSync(file, text);
  const output = join(home, "output");
  const ended = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", file], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: home, GITHUB_OUTPUT: output, XDG_STATE_HOME: home, ...env },
  });
  const lines = existsSync(output) ? readFileSync(output, "utf8").trim().split("\n") : [];
  return {
    code: ended.status,
    stdout: ended.stdout,
    stderr: ended.stderr,
    outputs: Object.fromEntries(lines.map((line) => line.split("=") as [string, string])),
  };
}
const script = (name: string, parameters: readonly string[], env: Env = {}, cwd = newFolder()) =>
  shell(
    `exec ${JSON.stringify(join(CI, name))} ${parameters.map((each) => JSON.stringify(each)).join(" ")}`,
    cwd,
    env,
  );

/** A program that notes how it was called. */
function recorder(name: string, answer = ""): { PATH: string; calls: () => string } {
  const folder = newFolder();
  const text = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${folder}/calls'\n${answer}\n`;
  writeFileSync(join(folder, name), text, { mode: 0o755 });
  return {
    PATH: `${folder}:${process.env.PATH}`,
    calls: () => (existsSync(join(folder, "calls")) ? readFileSync(join(folder, "calls"), "utf8") : ""),
  };
}

/** The folder of a campaign with a report, as a campaign leaves it. */
function campaign(name: string, root = newFolder()): string {
  const folder = join(root, name);
  mkdirSync(join(folder, "report"), { recursive: true });
  writeFileSync(join(folder, "report/index.html"), `<p>${name}</p>`);
  writeFileSync(join(folder, "report/summary.csv"), `Client\n${name}\n`);
  writeFileSync(join(folder, "manifest.json"), "{}");
  writeFileSync(join(folder, "none_light_run1.json"), "{}");
  return folder;
}

test("actionlint finds nothing", (context) => {
  const { code, stdout, stderr } = script("actionlint.sh", []);
  // .ci/run installs it wherever that is possible.
  if (code === 3) context.skip(stderr.trim());
  expect([code, stdout]).toEqual([0, ""]);
});

describe("benchmark.yml", () => {
  const list = steps("benchmark.yml");

  test("its steps measure what was asked for and tell it", () => {
    expect(isSetUp()).toBe(true);
    const inputs = {
      clients: "none",
      concurrency: "4",
      duration_mode: "custom:1",
      runs: "1",
      runtime: "local",
    };
    const known = Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => [`inputs.${name}`, value]),
    );
    const results = join(newFolder(), "results");
    const measure = step(list, "Campaign");
    const measured = shell(measure.run, ROOT, {
      ...environmentOf(measure, known),
      OUTPUT: results,
      WARMUP: "0.5",
      COOLDOWN: "0",
    });
    expect(measured.code, measured.stderr).toBe(0);
    const folder = measured.outputs.campaign ?? "";
    expect(readdirSync(folder)).toContain("none_light_4c_1s_run1.json");

    const tell = step(list, "Summary");
    const summary = join(newFolder(), "summary");
    const known2 = { "steps.campaign.outputs.campaign": folder };
    const told = shell(tell.run, ROOT, { ...environmentOf(tell, known2), GITHUB_STEP_SUMMARY: summary });
    expect(told.code, told.stderr).toBe(0);
    expect(readFileSync(summary, "utf8")).toContain(basename(folder));
    // What `pages.yml` takes from it.
    expect(script("record.sh", [folder, join(newFolder(), "history")]).code).toBe(0);
  });

  test("the schedule has no inputs and needs none", () => {
    const env = environmentOf(step(list, "Campaign"), {});
    expect(env).toMatchObject({ CLIENTS: "all,controls", RUNS: "5", RUNTIME: "docker" });
  });

  test.each([
    ["CLIENTS", "$(touch x)"],
    ["CLIENTS", "none; touch x"],
    ["CLIENTS", "--plugin=/tmp/evil.js"],
    ["CLIENTS", "none\n--plugin"],
    ["CONCURRENCY", "50 --plugin /tmp/evil.js"],
    ["DURATION_MODE", "custom:1e9"],
    ["RUNS", "`touch x`"],
    ["WORKLOAD", "light|cat"],
    ["TRAFFIC", "../../x"],
    ["RUNTIME", "local docker"],
  ])("%s=%j is refused in one line, and nothing runs", (name, value) => {
    const cwd = newFolder();
    const { code, stderr } = script("benchmark.sh", [], { CLIENTS: "none", [name]: value }, cwd);
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^::error::${name} must be [^\\n]+\\n$`));
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe("record.sh and site.sh", () => {
  test("keep the newest reports, and publish the last one at the root", () => {
    const history = join(newFolder(), "a history");
    for (const name of ["20260101_000000", "20260103_000000", "20260102_000000"]) {
      expect(script("record.sh", [campaign(name), history, "2"]).code).toBe(0);
    }
    expect(readdirSync(history).sort()).toEqual(["20260102_000000", "20260103_000000"]);
    expect(readdirSync(join(history, "20260103_000000")).sort()).toEqual(["manifest.json", "report"]);

    const site = join(newFolder(), "a site");
    expect(script("site.sh", [history, site]).code).toBe(0);
    expect(readFileSync(join(site, "index.html"), "utf8")).toBe("<p>20260103_000000</p>");
    expect(readFileSync(join(site, "summary.csv"), "utf8")).toContain("20260103_000000");
    const page = readFileSync(join(site, "history/index.html"), "utf8");
    expect(page.indexOf("20260103_000000")).toBeLessThan(page.indexOf("20260102_000000"));
    expect(existsSync(join(site, "history/20260102_000000/summary.csv"))).toBe(true);
    // A file that is there already is never overwritten.
    expect(script("site.sh", [history, site]).code).toBe(2);
  });

  test("take only what is a campaign", () => {
    const history = join(newFolder(), "history");
    expect(script("record.sh", [campaign("20260101_000000<script>"), history]).code).toBe(2);
    const linked = campaign("20260101_000000");
    symlinkSync("/etc/passwd", join(linked, "report/passwd"));
    expect(script("record.sh", [linked, history]).code).toBe(2);
    const empty = join(newFolder(), "20260101_000000");
    mkdirSync(empty);
    expect(script("record.sh", [empty, history]).code).toBe(2);
    expect(existsSync(history)).toBe(false);
    expect(script("site.sh", [newFolder(), join(newFolder(), "site")]).code).toBe(2);
  });
});

test("the steps of pages.yml keep the history on a branch of its own", () => {
  const list = steps("pages.yml");
  const root = newFolder();
  const clone = (name: string) => {
    const git = [
      `git init --quiet --bare origin.git 2>/dev/null; git clone --quiet origin.git ${name} 2>/dev/null; cd ${name}`,
      'git config user.name a; git config user.email a@b.c; ln -s "$SCRIPTS" scripts; echo results >.gitignore',
      "git rev-parse --quiet --verify HEAD || { git add .gitignore; git commit --quiet -m first; git push --quiet origin HEAD; }",
    ];
    const made = shell(git.join("\n"), root, { SCRIPTS: join(ROOT, "scripts") });
    expect(made.code, made.stderr).toBe(0);
    return join(root, name);
  };
  const publish = (checkout: string, name?: string) => {
    if (name) cpSync(campaign(name), join(checkout, "results", name), { recursive: true });
    const RUNNER_TEMP = newFolder();
    for (const title of ["History", "Site"]) {
      const { code, stderr } = shell(step(list, title).run, checkout, { RUNNER_TEMP });
      expect(code, stderr).toBe(0);
    }
    return join(RUNNER_TEMP, "site");
  };
  publish(clone("first"), "20260101_000000");
  const site = publish(clone("second"), "20260102_000000");
  expect(readFileSync(join(site, "summary.csv"), "utf8")).toContain("20260102_000000");
  expect(readdirSync(join(site, "history")).sort()).toEqual([
    "20260101_000000",
    "20260102_000000",
    "index.html",
  ]);
  // By hand, without a new campaign.
  expect(readdirSync(join(publish(clone("third")), "history"))).toHaveLength(3);
  const log = shell("git -C origin.git log --format=%s benchmark-history", root);
  expect(log.stdout.trim().split("\n")).toHaveLength(2);
  // Nothing of the project itself is on that branch.
  expect(shell("git -C origin.git ls-tree --name-only benchmark-history", root).stdout).toBe("history\n");
});

describe("release.yml", () => {
  const checkout = (version: string, changelog: string) => {
    const root = newFolder();
    cpSync(CI, join(root, "scripts/ci"), { recursive: true });
    writeFileSync(join(root, "package.json"), JSON.stringify({ version }));
    writeFileSync(join(root, "CHANGELOG.md"), changelog);
    return (tag: string) => {
      const file = join(root, "scripts/ci/check-release.sh");
      return shell(`exec ${JSON.stringify(file)} "$TAG"`, root, { TAG: tag });
    };
  };

  test("a tag needs its version in package.json and its notes in the changelog", () => {
    const check = checkout("1.2.3", "# Changelog\n\n## 1.2.3 (2026-11-21)\n\n- New\n\n## 1.2.2\n\n- Old\n");
    expect(check("v1.2.3")).toMatchObject({ code: 0, stdout: "\n- New\n\n" });
    for (const tag of ["v1.2.4", "1.2.3", "v1.2.3;x", ""]) expect(check(tag).code, tag).toBe(2);
    expect(checkout("1.2.2", "## Unreleased\n\n- New\n\n## 1.2.20\n\n- x\n")("v1.2.2").code).toBe(2);
  });

  test("images are named after the owner in lower case, and their digests are told", () => {
    const env = { IMAGES: "ghcr.io/Some-Owner", DRY_RUN: "1" };
    const { code, stderr, outputs } = script("release-images.sh", ["1.2.3"], env);
    expect(code, stderr).toBe(0);
    expect(outputs).toMatchObject({ server_name: "ghcr.io/some-owner/ratelimit-bench-server" });
    expect(stderr.match(/docker build .*\n/g)).toHaveLength(2);
    expect(stderr.match(/docker push \S+:1\.2\.3\n/g)).toHaveLength(2);
    expect(script("release-images.sh", ["1.2.3 x"], env).code).toBe(2);
  });
});

describe("action.yml", () => {
  test.each([
    ["TARGET", "ioredis,iovalkey"],
    ["TARGET", "ioredis;touch x"],
    ["BASE", ""],
    ["BASE", "main"],
    ["PACKAGE_FOLDER", "../elsewhere"],
    ["PACKAGE_FOLDER", "/etc"],
    ["PACKAGE_FOLDER", "a\nb"],
  ])("%s=%j is refused before anything is checked out", (name, value) => {
    const WORK = join(newFolder(), "work");
    const env = { TARGET: "ioredis@valkey", BASE: "0".repeat(40), WORK, [name]: value };
    const { code, stderr } = script("prepare-sides.sh", [], env);
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(new RegExp(`^::error::${name} must be [^\\n]+\\n$`));
    expect(existsSync(WORK)).toBe(false);
  });

  const comment = step(action.runs.steps, "Comment");
  const say = (gh: { PATH: string }) => {
    const file = join(newFolder(), "comment.md");
    writeFileSync(file, `# Result\n${"ü".repeat(70_000)}`);
    const known = {
      "inputs.token": "t",
      "inputs.target": "ioredis@valkey",
      "github.event.pull_request.number": "7",
      "steps.measure.outputs.comment": file,
    };
    const env = { ...environmentOf(comment, known), GITHUB_REPOSITORY: "a/b", GITHUB_ACTION_PATH: ROOT };
    return shell(comment.run, newFolder(), { ...env, PATH: gh.PATH });
  };

  test("the comment is written once and then renewed", () => {
    const body = 'for w in "$@"; do case $w in body=@*) wc -c <"${w#body=@}" >&2 ;; esac; done';
    const first = recorder("gh", body);
    const said = say(first);
    expect(said.code, said.stderr).toBe(0);
    expect(Number(said.stderr)).toBeLessThan(65_536);
    expect(first.calls()).toContain("--method POST repos/a/b/issues/7/comments");
    const again = recorder("gh", "case $* in *--paginate*) echo 42 ;; esac");
    expect(say(again).code).toBe(0);
    expect(again.calls()).toContain("--method PATCH repos/a/b/issues/comments/42");
  });

  test("a token that may not write is no failure", () => {
    const { code, stdout } = say(recorder("gh", "exit 1"));
    expect(code).toBe(0);
    expect(stdout).toContain("::notice::no comment could be written");
  });

  test.each([
    ["0", "regression", 0],
    ["6", "regression", 6],
    ["6", "inconclusive", 6],
    ["6", "never", 0],
    ["7", "regression", 0],
    ["7", "inconclusive", 7],
    ["7", "never", 0],
    ["1", "never", 2],
    ["6", "maybe", 2],
  ])("a comparison that ended with %s fails a job on %s with %i", (CODE, FAIL_ON, code) => {
    expect(script("verdict.sh", [], { CODE, FAIL_ON }).code).toBe(code);
  });
});
