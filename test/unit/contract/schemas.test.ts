import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { failedResultSchema, RESULT_SCHEMA_VERSION } from "../../../src/contract/result.js";
import event from "../../../src/contract/schemas/event.schema.json" with { type: "json" };
import manifest from "../../../src/contract/schemas/manifest.schema.json" with { type: "json" };
import plan from "../../../src/contract/schemas/plan.schema.json" with { type: "json" };
import result from "../../../src/contract/schemas/result.schema.json" with { type: "json" };

test("the schemas are strict: no unknown member passes", () => {
  for (const schema of [manifest, plan, result, event]) {
    expect(JSON.stringify(schema)).toContain('"additionalProperties":false');
  }
});

test("a failed result cannot carry figures [R-generator-dies-1]", () => {
  const failed = {
    schema: "ratelimit-bench/result",
    schema_version: RESULT_SCHEMA_VERSION,
    run: 1,
    load_text: "50 connections",
    started_at: "2026-01-01T00:00:00.000Z",
    finished_at: "2026-01-01T00:00:01.000Z",
    notes: [],
    status: "failed",
    failure: { role: "server-1", text: "ended with SIGKILL" },
    verdict: { status: "invalid", reasons: [], not_applicable: [] },
  };
  expect(failedResultSchema.safeParse(failed).success).toBe(true);
  expect(
    failedResultSchema.safeParse({ ...failed, requests: { average: 0, total: 0 } }).success,
  ).toBe(false);
});

/** What a program does with what its main returns or throws. */
async function endOf(main: string): Promise<{ code: number; stderr: string }> {
  const script = `
    import { runMain } from "./src/kit/program.ts";
    import { environmentError } from "./src/kit/errors.ts";
    runMain(async () => { ${main} });`;
  const run = promisify(execFile)(process.execPath, [
    "--import",
    "tsx",
    "--input-type=module",
    "-e",
    script,
  ]);
  return run.then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: { code: number; stderr: string }) => ({ code: error.code, stderr: error.stderr }),
  );
}

test("a program exits after an expected failure with its code and one line, after a defect with 1 and its stack", async () => {
  expect(await endOf("return 5;")).toEqual({ code: 5, stderr: "" });
  expect(await endOf('throw environmentError("no store");')).toEqual({
    code: 3,
    stderr: "no store\n",
  });
  const defect = await endOf('throw new Error("oops");');
  expect(defect.code).toBe(1);
  expect(defect.stderr).toMatch(/Error: oops\n +at /);
});
