import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";
import { CI, runner } from "../../helpers/shell.js";
import { step, steps } from "../../helpers/workflows.js";

const { newFolder, shell, script } = runner();
const venv = join(ROOT, ".venv/bin/python");
/** With the packages that write campaigns of the tests. */
const python = existsSync(venv) ? venv : "python3";

/** Twelve small campaigns, of the first twelve days of 2026, as campaigns leave them. */
const written = mkdtempSync(join(tmpdir(), "ratelimit-bench-test-"));
beforeAll(() => void execFileSync(python, [join(ROOT, "test/report/write_campaigns.py"), written]));
afterAll(() => rmSync(written, { recursive: true }));

/** A copy of them. */
function campaigns(): string {
  const root = newFolder();
  cpSync(written, root, { recursive: true });
  return root;
}
const named = (day: number) => `202601${`${day}`.padStart(2, "0")}_000000`;

describe("add-to-history.sh", () => {
  test("keeps the runs of the newest campaigns", () => {
    const results = campaigns();
    const history = join(newFolder(), "a history");
    for (const day of [1, 3, 2]) {
      expect(script("add-to-history.sh", [join(results, named(day)), history, "2"]).code).toBe(0);
    }
    expect(readdirSync(history).sort()).toEqual([named(2), named(3)]);
    expect(readdirSync(join(history, named(3)))).toContain("manifest.json");
    expect(readdirSync(join(history, named(3)))).not.toContain("report");
  });

  test("takes only what is a campaign", () => {
    const results = campaigns();
    const history = join(newFolder(), "history");
    const hostile = join(results, "20260101_000000<script>");
    cpSync(join(results, named(1)), hostile, { recursive: true });
    expect(script("add-to-history.sh", [hostile, history]).code).toBe(2);
    const linked = join(results, named(2));
    symlinkSync("/etc/passwd", join(linked, "passwd_run1.json"));
    expect(script("add-to-history.sh", [linked, history]).code).toBe(2);
    const empty = join(newFolder(), named(1));
    mkdirSync(empty);
    expect(script("add-to-history.sh", [empty, history]).code).toBe(2);
    expect(existsSync(history)).toBe(false);
  });
});

test("the steps of pages.yml keep the campaigns on a branch of their own", () => {
  const list = steps("pages.yml");
  const root = newFolder();
  const measured = campaigns();
  const clone = (name: string) => {
    const git = [
      `git init --quiet --bare origin.git 2>/dev/null; git clone --quiet origin.git ${name} 2>/dev/null; cd ${name}`,
      `git config user.name a; git config user.email a@b.c; echo results >.gitignore`,
      'mkdir results; for each in scripts report; do ln -s "$ROOT/$each" $each; done',
      "git rev-parse --quiet --verify HEAD || { git add .gitignore; git commit --quiet -m first; git push --quiet origin HEAD; }",
    ];
    const repository = shell(git.join("\n"), root, { ROOT });
    expect(repository.code, repository.stderr).toBe(0);
    return join(root, name);
  };
  const publish = (name: string, titles: readonly string[], day?: number) => {
    const RUNNER_TEMP = newFolder();
    const runStep = (title: string, checkout: string) => {
      // The tests run in a checkout that is set up.
      const run = step(list, title).run?.replace("scripts/setup.sh\n", "");
      const { code, stderr } = shell(run, checkout, { RUNNER_TEMP });
      expect(code, stderr).toBe(0);
    };
    if (day !== undefined) {
      cpSync(join(measured, named(day)), join(RUNNER_TEMP, "campaign", named(day)), {
        recursive: true,
      });
    }
    const checkout = clone(name);
    for (const title of titles) runStep(title, checkout);
    const published = readdirSync(join(RUNNER_TEMP, "history/history")).sort();
    // Another job. By hand, without a new campaign, it is left out.
    if (day !== undefined) {
      rmSync(join(RUNNER_TEMP, "history"), { recursive: true });
      runStep("Push", clone(`${name}-push`));
    }
    return { published, site: join(RUNNER_TEMP, "site") };
  };
  publish("first", ["History"], 1);
  const { site } = publish("second", ["History", "Site"], 2);
  expect(readdirSync(join(site, "history")).sort()).toEqual([named(1), named(2)]);
  expect(readFileSync(join(site, "campaigns.html"), "utf8")).toContain(
    `history/${named(2)}/report/index.html`,
  );
  expect(publish("third", ["History"]).published).toEqual([named(1), named(2)]);
  const log = shell("git -C origin.git log --format=%s benchmark-history", root);
  expect(log.stdout.trim().split("\n")).toHaveLength(2);
  // Nothing of the project itself is on that branch.
  expect(shell("git -C origin.git ls-tree --name-only benchmark-history", root).stdout).toBe(
    "history\n",
  );
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
    const check = checkout(
      "1.2.3",
      "# Changelog\n\n## 1.2.3 (2026-11-21)\n\n- New\n\n## 1.2.2\n\n- Old\n",
    );
    expect(check("v1.2.3")).toMatchObject({ code: 0, stdout: "\n- New\n" });
    for (const tag of ["v1.2.4", "1.2.3", "v1.2.3;x", ""]) expect(check(tag).code, tag).toBe(2);
    expect(checkout("1.2.2", "## Unreleased\n\n- New\n\n## 1.2.20\n\n- x\n")("v1.2.2").code).toBe(
      2,
    );
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
