import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { build, ROOT } from "../../helpers/programs.js";
import { CI, runner } from "../../helpers/shell.js";
import { action, environmentOf, step } from "../../helpers/workflows.js";

const { newFolder, shell, script, recorder } = runner();

describe("action.yml", () => {
  test.each([
    ["TARGET", "ioredis,iovalkey"],
    ["TARGET", "ioredis;touch x"],
    ["BASE", ""],
    ["BASE", "main"],
    ["BASE", "1.2"],
    ["HEAD", "latest"],
    ["PACKAGE_FOLDER", "../elsewhere"],
    ["PACKAGE_FOLDER", "/etc"],
    ["PACKAGE_FOLDER", "a\nb"],
  ])("%s=%j is refused before anything is checked out", (name, value) => {
    const WORK = join(newFolder(), "work");
    const env = {
      TARGET: "ioredis@valkey",
      BASE: "0".repeat(40),
      HEAD: "1.2.3",
      WORK,
      [name]: value,
    };
    const { code, stderr } = script("prepare-sides.sh", [], env);
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(new RegExp(`^::error::${name} must be [^\\n]+\\n$`));
    expect(existsSync(WORK)).toBe(false);
  });

  test("a client that the project does not know is refused by its name", () => {
    build();
    const WORK = join(newFolder(), "work");
    const env = { TARGET: "acme@valkey", BASE: "1.0.0", HEAD: "1.0.1", WORK };
    const { code, stderr } = script("prepare-sides.sh", [], env);
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(/^::error::ratelimit-bench has no client acme [^\n]+\n$/);
  });

  test("base and head become plugins, each with its own version of the package", async () => {
    build();
    const root = newFolder();
    const versions = ["1.0.0", "2.0.0"].map((version) => {
      const file = JSON.stringify({ name: "ioredis", version, main: "index.js" });
      return `printf '%s' '${file}' >"a package/package.json"; git add .; git commit --quiet --message ${version}`;
    });
    const repository = shell(
      [
        "git init --quiet; git config user.name a; git config user.email a@b.c; mkdir 'a package'",
        "echo 'module.exports = {}' >'a package/index.js'",
        ...versions,
        "git rev-parse HEAD~1 HEAD",
      ].join("\n"),
      root,
    );
    const [base = "", head = ""] = repository.stdout.trim().split("\n");
    const WORK = join(newFolder(), "work");
    const known = {
      "inputs.target": "ioredis@valkey:cluster",
      "inputs.package-folder": "a package",
      "inputs.build": "touch built",
      "inputs.base": base,
      "inputs.head": head,
      "runner.temp": WORK,
    };
    const prepare = step(action.runs.steps, "Base and head");
    const env = environmentOf(prepare, known);
    const { code, stderr } = shell(prepare.run, root, { ...env, GITHUB_ACTION_PATH: ROOT });
    expect(code, stderr).toBe(0);
    for (const [side, version] of [
      ["base", "1.0.0"],
      ["head", "2.0.0"],
    ]) {
      const folder = join(env.WORK ?? "", `ioredis-${side}`);
      const { default: plugin } = await import(pathToFileURL(join(folder, "index.js")).href);
      expect(plugin.clients.map(({ id }: { id: string }) => id)).toEqual([`ioredis-${side}`]);
      const adapter = await import(pathToFileURL(join(folder, "dist/targets/libraries.js")).href);
      expect(adapter.packageVersion("ioredis")).toBe(version);
    }
  });

  test.each([
    ["0", "0", 0],
    ["5", "7", 0],
    // The head failed its load in every run: the comparison says so.
    ["4", "6", 0],
    ["4", "0", 4],
    ["4", "7", 4],
    ["1", "0", 1],
    ["0", "2", 2],
  ])(
    "a campaign that ended with %s, compared with %s, ends the step with %i",
    (CAMPAIGN, COMPARED, code) => {
      const root = newFolder();
      cpSync(CI, join(root, "scripts/ci"), { recursive: true });
      const WORK = join(root, "work");
      const results = join(WORK, "results");
      const report = join(results, "campaign/report");
      mkdirSync(report, { recursive: true });
      writeFileSync(join(report, "summary.md"), "# Summary\n");
      symlinkSync("campaign", join(results, "latest"));
      writeFileSync(join(root, "scripts/run-all.sh"), `#!/bin/sh\nexit ${CAMPAIGN}\n`, {
        mode: 0o755,
      });
      mkdirSync(join(root, "dist/orchestrator"), { recursive: true });
      writeFileSync(join(root, "dist/orchestrator/cli.js"), `process.exit(${COMPARED});\n`);
      const measured = shell("scripts/ci/measure-sides.sh", root, {
        TARGET: "ioredis@valkey",
        WORK,
      });
      expect(measured.code, measured.stderr).toBe(code);
      // One target was asked for: the action says which reference it adds.
      expect(measured.stdout).toContain("the base ioredis-base@valkey is added as the reference");
      // The artifact is uploaded whatever the comparison says.
      expect(measured.outputs.campaign).toBe(
        CAMPAIGN === "1" ? undefined : join(results, "campaign"),
      );
      expect(measured.outputs.code).toBe(code === 0 ? COMPARED : undefined);
    },
  );

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
    const env = {
      ...environmentOf(comment, known),
      GITHUB_REPOSITORY: "a/b",
      GITHUB_ACTION_PATH: ROOT,
    };
    return shell(comment.run, newFolder(), { ...env, PATH: gh.PATH });
  };

  test("the comment is written once and then renewed", () => {
    const first = recorder(
      "gh",
      'for w in "$@"; do case $w in body=@*) wc -c <"$(echo "$w" | cut -c7-)" >&2 ;; esac; done',
    );
    const comment = say(first);
    expect(comment.code, comment.stderr).toBe(0);
    expect(Number(comment.stderr)).toBeLessThan(65_536);
    expect(first.calls()).toContain("--method POST repos/a/b/issues/7/comments");
    const again = recorder("gh", "case $* in *--paginate*) echo 42 ;; esac");
    expect(say(again).code).toBe(0);
    expect(again.calls()).toContain("--method PATCH repos/a/b/issues/comments/42");
  });

  test("a token that may not write is no failure", () => {
    const { code, stdout } = say(recorder("gh", "exit 1"));
    expect(code).toBe(0);
    expect(stdout).toContain("::notice::");
  });

  test.each([
    ["0", "regression", 0],
    ["6", "regression", 6],
    ["6", "not-decided", 6],
    ["6", "never", 0],
    ["7", "regression", 0],
    ["7", "not-decided", 7],
    ["7", "never", 0],
    ["1", "never", 2],
    ["6", "maybe", 2],
  ])("a comparison that ended with %s fails a job on %s with %i", (CODE, FAIL_ON, code) => {
    expect(script("exit-by-verdict.sh", [], { CODE, FAIL_ON }).code).toBe(code);
  });
});
