import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../helpers/programs.js";
import { action, examples, workflows } from "../helpers/workflows.js";

const files = [
  ...workflows.map(({ file, text, jobs }) => ({
    file,
    text,
    steps: Object.values(jobs).flatMap((job) => job.steps),
  })),
  { file: action.file, text: action.text, steps: action.runs.steps },
];

describe.each(workflows)("$file", ({ permissions, concurrency, jobs }) => {
  test("may write nothing by default, ends some time, and not twice at once", () => {
    expect(Object.values(permissions ?? { all: "write" })).not.toContain("write");
    expect(concurrency).toBeDefined();
    for (const job of Object.values(jobs)) expect(job["timeout-minutes"]).toBeGreaterThan(0);
  });
});

describe.each(files)("$file", ({ text, steps }) => {
  test("uses other actions by commit alone, and says which version that is", () => {
    for (const line of text.split("\n").filter((each) => /^\s*(- )?uses:/.test(each))) {
      expect(line).toMatch(/uses: (\.\/$|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$)/);
    }
  });

  test("puts nothing that people typed into a program's text", () => {
    // An expression is pasted in before the shell reads it: `$(rm …)` in a title would run.
    for (const { run = "" } of steps) expect(run).not.toContain("${{");
  });

  test("keeps its commands in scripts that are there", () => {
    for (const { run } of steps) {
      if (run === undefined) continue;
      expect(run.trim().split("\n").length).toBeLessThanOrEqual(2);
      for (const [name] of run.matchAll(/scripts\/[\w/-]+\.sh/g))
        accessSync(join(ROOT, name), constants.X_OK);
    }
  });
});

test("the job that reads results for the pages can write nothing, and deploys nothing", () => {
  const reading = workflows
    .flatMap(({ jobs }) => Object.values(jobs))
    .filter(({ steps }) => steps.some(({ run }) => run?.includes("report pages")));
  expect(reading.map(({ permissions }) => permissions)).toEqual([
    { actions: "read", contents: "read" },
  ]);
});

test("every input of the action has a meaning, a default, and a place in docs/ci.md", () => {
  const page = readFileSync(join(ROOT, "docs/ci.md"), "utf8");
  for (const [name, input] of Object.entries(action.inputs)) {
    expect(input.description, name).toEqual(expect.any(String));
    expect(input.default, name).toEqual(expect.any(String));
    expect(page).toContain(`\`${name}\``);
  }
});

describe.each(examples)("$file", ({ permissions, jobs, on }) => {
  test("gives the action inputs that it has, may write nothing by default, and ends some time", () => {
    expect(Object.values(permissions ?? { all: "write" })).not.toContain("write");
    // With pull_request_target the code of a pull request would run with a token that can write.
    expect(on).toBe("pull_request");
    for (const { steps, ...job } of Object.values(jobs)) {
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
      const inputs = steps.find(({ uses }) => uses?.includes("/ratelimit-bench@"))?.with ?? {};
      expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(inputs)));
    }
  });
});
