import { describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { type Plan, planSchema } from "../../../../src/contract/plan.js";
import { requestedRuns } from "../../../../src/orchestrator/plan/decision-rounds.js";
import { estimateRange } from "../../../../src/orchestrator/plan/estimate.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything, requestOf } from "../../../helpers/request.js";

const planOf = (...flags: string[]): Plan =>
  makePlan(requestOf("--clients", "iovalkey,ioredis", "--concurrency", "50", ...flags), everything);

const diagnosing = ({ runs }: Plan) => runs.filter(({ diagnose }) => diagnose);

test("one run of each configuration comes after all that count, with a number and a file of its own", () => {
  const plan = planOf("--runs", "2", "--diagnose");
  const found = diagnosing(plan);
  expect(plan.runs.slice(-2)).toEqual(found);
  expect(new Set(found.map(({ configuration_hash }) => configuration_hash)).size).toBe(2);
  for (const { configuration_hash, run, file } of found) {
    const others = plan.runs.filter(
      (other) => other.configuration_hash === configuration_hash && !other.diagnose,
    );
    expect(others.length).toBeGreaterThan(0);
    expect(run).toBe(Math.max(...others.map((other) => other.run)) + 1);
    expect(file).toMatch(/_diagnose\.json$/);
  }
  expect(new Set(plan.runs.map(({ file }) => file)).size).toBe(plan.runs.length);
  expect(planSchema.parse(plan)).toEqual(plan);
});

test("alone means no others, whatever the number of runs", () => {
  for (const runs of ["3", "auto"]) {
    const plan = planOf("--runs", runs, "--diagnose", "alone");
    expect(plan.runs).toEqual(diagnosing(plan));
    expect(plan.runs.map(({ run }) => run)).toEqual([1, 1]);
    expect(plan).toMatchObject({ runs_per_configuration: 1 });
    expect(plan).not.toHaveProperty("adaptive");
  }
});

test("the store layer has none beside others", () => {
  const plan = planOf("--layer", "server,store", "--diagnose");
  const layers = new Map(plan.configurations.map(({ hash, configuration }) => [hash, configuration.layer]));
  const found = diagnosing(plan).map(({ configuration_hash }) => layers.get(configuration_hash));
  expect(found).toEqual(["server", "server"]);
});

describe("an adaptive campaign", () => {
  const plan = planOf("--runs", "auto", "--diagnose");

  test("asks for its diagnosing runs whatever it decides", () => {
    const rounds = Object.fromEntries(plan.configurations.map(({ hash }) => [hash, 5]));
    const asked = requestedRuns({ plan, adaptive: { rounds, looked: 5, spent_s: 0 } });
    expect(asked.filter(({ diagnose }) => diagnose)).toEqual(diagnosing(plan));
  });

  test("counts them in what it needs at least", () => {
    const overheads = { standalone: 2 };
    const others = planOf("--runs", "auto", "--order", "interleaved");
    const without = estimateRange(others, overheads).at_least?.runs ?? 0;
    expect(estimateRange(plan, overheads).at_least?.runs).toBe(without + 2);
  });
});

test.each<[string[], ...string[]]>([
  [["--diagnose", "sometimes"], "--diagnose", "alone"],
  [["--diagnose", "--find-max-rate", "--slo", "p99<10ms"], "--find-max-rate"],
])("%j is bad usage", async (flags, ...parts) => {
  await expectFailure(() => planOf(...flags), EXIT.usage, ...parts);
});
