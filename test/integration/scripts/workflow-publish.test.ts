import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";
import { CI, runner } from "../../helpers/shell.js";
import { step, steps } from "../../helpers/workflows.js";

const { newFolder, shell, script } = runner();

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

describe("add-to-history.sh and build-site.sh", () => {
  test("keep the newest reports, and publish the last one at the root", () => {
    const history = join(newFolder(), "a history");
    for (const name of ["20260101_000000", "20260103_000000", "20260102_000000"]) {
      expect(script("add-to-history.sh", [campaign(name), history, "2"]).code).toBe(0);
    }
    expect(readdirSync(history).sort()).toEqual(["20260102_000000", "20260103_000000"]);
    expect(readdirSync(join(history, "20260103_000000")).sort()).toEqual(["manifest.json", "report"]);

    const site = join(newFolder(), "a site");
    expect(script("build-site.sh", [history, site]).code).toBe(0);
    expect(readFileSync(join(site, "index.html"), "utf8")).toBe("<p>20260103_000000</p>");
    expect(readFileSync(join(site, "summary.csv"), "utf8")).toContain("20260103_000000");
    const page = readFileSync(join(site, "history/index.html"), "utf8");
    expect(page.indexOf("20260103_000000")).toBeLessThan(page.indexOf("20260102_000000"));
    expect(existsSync(join(site, "history/20260102_000000/summary.csv"))).toBe(true);
    // A file that is there already is never overwritten.
    expect(script("build-site.sh", [history, site]).code).toBe(2);
  });

  test("take only what is a campaign", () => {
    const history = join(newFolder(), "history");
    expect(script("add-to-history.sh", [campaign("20260101_000000<script>"), history]).code).toBe(2);
    const linked = campaign("20260101_000000");
    symlinkSync("/etc/passwd", join(linked, "report/passwd"));
    expect(script("add-to-history.sh", [linked, history]).code).toBe(2);
    const empty = join(newFolder(), "20260101_000000");
    mkdirSync(empty);
    expect(script("add-to-history.sh", [empty, history]).code).toBe(2);
    expect(existsSync(history)).toBe(false);
    expect(script("build-site.sh", [newFolder(), join(newFolder(), "site")]).code).toBe(2);
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
    expect(check("v1.2.3")).toMatchObject({ code: 0, stdout: "\n- New\n" });
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
