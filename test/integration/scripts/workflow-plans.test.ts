import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { roundsThatDecide } from "../../../src/orchestrator/plan/decidable.js";
import { estimateCampaignS } from "../../../src/orchestrator/plan/estimate.js";
import { makePlan } from "../../../src/orchestrator/plan/make-plan.js";
import { referencesIn } from "../../../src/orchestrator/plan/rankings.js";
import { everything, parsed } from "../../helpers/request.js";
import { CI, runner } from "../../helpers/shell.js";
import { action, environmentOf, step, workflows } from "../../helpers/workflows.js";

const { newFolder, shell } = runner();

/** What starts and stops take on a machine that is three times as slow as the estimate's. */
const SLOW = { none: 8, standalone: 12, cluster: 25 };
/** Of a job's time; the rest is for installing, building and pulling images. */
const CAMPAIGN_SHARE = 0.75;

/** The flags with which a step's script calls `run-all.sh`. */
function flagsOf(script: string, env: Readonly<Record<string, string>>): string[] {
  const root = newFolder();
  cpSync(CI, join(root, "scripts/ci"), { recursive: true });
  const results = join(root, "results");
  mkdirSync(join(results, "latest"), { recursive: true });
  const flags = join(root, "flags");
  writeFileSync(join(root, "scripts/run-all.sh"), `#!/bin/sh\nprintf '%s\\n' "$@" >'${flags}'\n`, {
    mode: 0o755,
  });
  const called = shell(`scripts/ci/${script}`, root, { ...env, OUTPUT: results });
  expect(called.code, called.stderr).toBe(0);
  return readFileSync(flags, "utf8").trim().split("\n");
}

const planOf = (flags: readonly string[]) =>
  makePlan(parsed([...flags, "--seed", "1"]), everything);

const benchmark = workflows.find(({ file }) => file.endsWith("benchmark.yml"));
const job = benchmark?.jobs.benchmark;
if (!benchmark || !job) throw new Error("there is no job that measures");

test.each([
  ["benchmark.yml", environmentOf(step(job.steps, "Campaign"), {})],
  ["scripts/ci/benchmark.sh", {}],
])("what %s measures by default decides, and ends within the job's time", (_name, env) => {
  const plan = planOf(flagsOf("benchmark.sh", env));
  expect(plan.order).toBe("turns");
  expect(referencesIn(plan).length).toBeGreaterThan(0);
  expect(roundsThatDecide(plan)).toBe(plan.runs_per_configuration);
  expect(estimateCampaignS(plan, SLOW)).toBeLessThan(
    CAMPAIGN_SHARE * 60 * (job["timeout-minutes"] ?? 0),
  );
});

test("the form of benchmark.yml offers what the schedule measures", () => {
  const scheduled = environmentOf(step(job.steps, "Campaign"), {});
  const { inputs } = (benchmark.on as { workflow_dispatch: { inputs: Record<string, Input> } })
    .workflow_dispatch;
  const offered = Object.entries(inputs).map(([name, { default: text, options = [] }]) => [
    name.toUpperCase(),
    text ?? options[0],
  ]);
  expect(Object.fromEntries(offered)).toEqual(scheduled);
});

test("one target of a benchmark gets a reference, and the plan names it", () => {
  const plan = planOf(flagsOf("benchmark.sh", { CLIENTS: "valkey-glide" }));
  expect(plan.reference_added).toBe(true);
  expect(plan.notes.join()).toContain("ioredis@valkey is added as the reference");
});

test("what the action measures by default decides", () => {
  const inputs = action.inputs as Record<string, Input>;
  const known = Object.entries(inputs).map(([name, { default: text }]) => [
    `inputs.${name}`,
    `${text}`,
  ]);
  const env = environmentOf(step(action.runs.steps, "Measure and compare"), {
    ...Object.fromEntries(known),
    "inputs.target": "ioredis",
    "runner.temp": newFolder(),
  });
  const plan = planOf(["--clients", "iovalkey,ioredis@valkey", "--runs", env.RUNS ?? ""]);
  expect(roundsThatDecide(plan)).toBe(plan.runs_per_configuration);
});

interface Input {
  default?: string;
  options?: string[];
}
