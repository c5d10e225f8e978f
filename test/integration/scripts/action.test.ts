import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { build, ROOT } from "../../helpers/programs.js";
import { CI, runner } from "../../helpers/shell.js";
import { action, actionInputs, environmentOf, step } from "../../helpers/workflows.js";

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
    ["TARGET and APP:", "", { APP: "node server.js" }],
    ["APP", "", { TARGET: "", APP: "node server.js\nnode other.js" }],
    ["BASE", "", { TARGET: "", APP: "node server.js", BASE: "1.2.3" }],
  ])(
    "%s=%j is refused before anything is checked out",
    (name, value, others: Readonly<Record<string, string>> = {}) => {
      const WORK = join(newFolder(), "work");
      const env = {
        TARGET: "ioredis@valkey",
        BASE: "0".repeat(40),
        HEAD: "1.2.3",
        WORK,
        [name]: value,
        ...others,
      };
      const { code, stderr } = script("prepare-sides.sh", [], env);
      expect(code, stderr).toBe(2);
      expect(stderr).toMatch(new RegExp(`^::error::${name} [^\\n]+\\n$`));
      expect(existsSync(WORK)).toBe(false);
    },
  );

  test("a client that the project does not know is refused by its name", () => {
    build();
    const WORK = join(newFolder(), "work");
    const env = { TARGET: "acme@valkey", BASE: "1.0.0", HEAD: "1.0.1", WORK };
    const { code, stderr } = script("prepare-sides.sh", [], env);
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(/^::error::ratelimit-bench has no [^\n]+ acme@valkey[^\n]+\n$/);
  });

  test.each([
    {
      kind: "client",
      id: "ioredis",
      target: "ioredis@valkey:cluster",
      of: "ioredis-SIDE@valkey:cluster",
    },
    {
      kind: "limiter",
      id: "rate-limiter-flexible",
      target: "ioredis@valkey+rate-limiter-flexible+fail-open",
      of: "ioredis@valkey+rate-limiter-flexible-SIDE+fail-open",
    },
  ])(
    "base and head of a $kind become plugins, each with its own version of the package",
    async ({ kind, id, target, of }) => {
      build();
      const root = newFolder();
      const versions = ["1.0.0", "2.0.0"].map((version) => {
        const file = JSON.stringify({ name: id, version, main: "index.js" });
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
      const given = { target, "package-folder": "a package", build: "touch built", base, head };
      const known = { "github.event.pull_request.base.sha": base, "github.token": "t" };
      const work = newFolder();
      const prepare = step(action.runs.steps, "Base and head");
      const env = environmentOf(prepare, actionInputs(given, { ...known, "runner.temp": work }));
      const { code, stderr } = shell(prepare.run, root, { ...env, GITHUB_ACTION_PATH: ROOT });
      expect(code, stderr).toBe(0);
      for (const [side, version] of [
        ["base", "1.0.0"],
        ["head", "2.0.0"],
      ]) {
        const WORK = env.WORK ?? "";
        expect(readFileSync(join(WORK, `${side}.side`), "utf8")).toBe(
          of.replace("SIDE", side ?? ""),
        );
        const folder = join(WORK, `plugin-${side}`);
        const { default: plugin } = await import(pathToFileURL(join(folder, "index.js")).href);
        expect(plugin[`${kind}s`].map((part: { id: string }) => part.id)).toEqual([
          `${id}-${side}`,
        ]);
        const adapter = await import(pathToFileURL(join(folder, "dist/targets/libraries.js")).href);
        expect(adapter.packageVersion(id)).toBe(version);
      }
    },
  );

  /** A checkout whose campaign, audit and comparison end with these codes. */
  function measured(codes: { campaign: string; audit: string; compared: string }) {
    const root = newFolder();
    cpSync(CI, join(root, "scripts/ci"), { recursive: true });
    const WORK = join(root, "work");
    const results = join(WORK, "results");
    for (const folder of ["campaign/report", "audits/20260102_030405"])
      mkdirSync(join(results, folder), { recursive: true });
    writeFileSync(join(results, "campaign/report/summary.md"), "# Summary\n");
    symlinkSync("campaign", join(results, "latest"));
    for (const side of ["base", "head"])
      writeFileSync(join(WORK, `${side}.side`), `ioredis-${side}@valkey`);
    writeFileSync(join(root, "scripts/run-all.sh"), `#!/bin/sh\nexit ${codes.campaign}\n`, {
      mode: 0o755,
    });
    mkdirSync(join(root, "dist/orchestrator"), { recursive: true });
    writeFileSync(
      join(root, "dist/orchestrator/cli.js"),
      `console.log(...process.argv); process.exit(process.argv[2] === "audit" ? ${codes.audit} : ${codes.compared});\n`,
    );
    const env = { TARGET: "ioredis@valkey", WORK };
    return { results, ...shell("scripts/ci/measure-sides.sh", root, env) };
  }

  test.each([
    ["0", "0", "0", 0],
    ["5", "0", "7", 0],
    // The head failed its load in every run: the comparison says so.
    ["4", "0", "6", 0],
    ["4", "0", "0", 4],
    ["4", "0", "7", 4],
    ["1", "0", "0", 1],
    ["0", "0", "2", 2],
    // A broken promise and a check that could not be made are the comparison's to judge.
    ["0", "6", "6", 0],
    ["0", "4", "7", 0],
    ["0", "3", "0", 3],
  ])(
    "a campaign that ended with %s and an audit with %s, compared with %s, end the step with %i",
    (campaign, audit, compared, code) => {
      const ended = measured({ campaign, audit, compared });
      expect(ended.code, ended.stderr).toBe(code);
      // One target was asked for: the action says which reference it adds.
      expect(ended.stdout).toContain("the base ioredis-base@valkey is added as the reference");
      // The artifact is uploaded whatever the comparison says.
      expect(ended.outputs.campaign).toBe(
        campaign === "1" ? undefined : join(ended.results, "campaign"),
      );
      expect(ended.outputs.code).toBe(code === 0 ? compared : undefined);
      if (code !== 0) return;
      const comment = readFileSync(ended.outputs.comment ?? "", "utf8");
      expect(comment).toContain(`--audit ${join(ended.results, "audits/20260102_030405")}`);
      expect(comment).toContain("--tolerate 10");
    },
  );

  const check = step(action.runs.steps, "Neutral check");
  const checked = (CODE: string, gh: { PATH: string }) => {
    const file = join(newFolder(), "comment.md");
    writeFileSync(file, "# Result\n");
    const env = { CODE, MARK: "ioredis@valkey", HEAD_SHA: "a".repeat(40), COMMENT: file };
    return shell(check.run, newFolder(), {
      ...env,
      GITHUB_REPOSITORY: "a/b",
      GITHUB_ACTION_PATH: ROOT,
      PATH: gh.PATH,
    });
  };

  test("only what is not decided gets a neutral check run, with its text", () => {
    const gh = recorder("gh", 'while [ "$1" != --input ]; do shift; done; cat "$2"');
    expect(checked("0", gh).code).toBe(0);
    expect(checked("6", gh).code).toBe(0);
    expect(gh.calls()).toBe("");
    const written = checked("7", gh);
    expect(gh.calls()).toContain("repos/a/b/check-runs");
    expect(JSON.parse(written.stdout)).toMatchObject({
      head_sha: "a".repeat(40),
      conclusion: "neutral",
      output: { summary: "# Result\n" },
    });
    const refused = checked("7", recorder("gh", "echo forbidden >&2; exit 1"));
    expect([refused.code, refused.stderr]).toEqual([0, ""]);
  });

  const comment = step(action.runs.steps, "Comment");
  const say = (gh: { PATH: string }) => {
    const file = join(newFolder(), "comment.md");
    writeFileSync(file, `# Result\n${"ü".repeat(70_000)}`);
    const known = {
      "inputs.token": "t",
      "inputs.target": "ioredis@valkey",
      "github.event.pull_request.number": "7",
      "github.job": "compare",
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
