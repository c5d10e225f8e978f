import { describe, expect, test } from "vitest";
import { estimateS } from "../../../../src/orchestrator/plan/estimate.js";
import { TimeLeft } from "../../../../src/orchestrator/plan/time-left.js";
import { planOf } from "../../../helpers/events.js";

const OVERHEADS = { none: 1, standalone: 2, cluster: 7 };
const flags = ["--warmup", "3", "--cooldown", "5", "--runs", "3"];
const plan = planOf(...flags);
const [first = "", second = "", third = ""] = plan.runs.map(({ file }) => file);
/** Warm-up, window, overhead, and the pause after it. */
const RUN_S = 3 + 10 + 2 + 5;

describe("the time that is left", () => {
  test("begins with the plan's estimate and runs down second by second", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    const whole = estimateS(plan, OVERHEADS);
    expect(left.left(0)).toBe(whole);
    left.begin(first, 100);
    expect(left.left(100)).toBeCloseTo(whole);
    expect(left.left(107)).toBeCloseTo(whole - 7);
  });

  test("is unchanged by runs that take what was estimated", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    const whole = estimateS(plan, OVERHEADS);
    left.begin(first, 0);
    left.end(15, true);
    expect(left.left(15)).toBeCloseTo(whole - 15);
    left.begin(second, 20);
    expect(left.left(20)).toBeCloseTo(whole - RUN_S);
  });

  test("learns from runs that took longer: those to come will, too", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    const whole = estimateS(plan, OVERHEADS);
    left.begin(first, 0);
    left.end(15 + 4, true);
    left.begin(second, 24);
    expect(left.left(24)).toBeCloseTo(whole - RUN_S + 2 * 4);
  });

  test("learns nothing from a run that failed early", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    const whole = estimateS(plan, OVERHEADS);
    left.begin(first, 0);
    left.end(1, false);
    left.begin(second, 6);
    expect(left.left(6)).toBeCloseTo(whole - RUN_S);
  });

  test("is never negative while a run takes longer than its estimate, and keeps the later runs", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    left.begin(first, 0);
    expect(left.left(1000)).toBeCloseTo(estimateS(plan, OVERHEADS) - RUN_S);
    left.end(1000, false);
    left.begin(second, 1000);
    left.end(2000, false);
    left.begin(third, 2000);
    expect(left.left(9000)).toBeGreaterThanOrEqual(0);
  });

  test("leaves out runs that need not be measured any more", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    left.skip(first);
    left.skip(second);
    expect(left.left(0)).toBeCloseTo(estimateS(plan, OVERHEADS) - 2 * RUN_S);
  });

  test("corrects each topology by its own runs", () => {
    const both = planOf(...flags, "--clients", "iovalkey,iovalkey:cluster", "--order", "consecutive");
    const hashOf = new Map(both.configurations.map(({ hash, configuration }) => [hash, configuration]));
    const isCluster = (hash: string) => hashOf.get(hash)?.target.topology === "cluster";
    const cluster = both.runs.find(({ configuration_hash }) => isCluster(configuration_hash))?.file ?? "";
    const standalone = both.runs.filter(({ configuration_hash }) => !isCluster(configuration_hash));
    const left = new TimeLeft(both, OVERHEADS);
    const whole = estimateS(both, OVERHEADS);
    left.begin(standalone[0]?.file ?? "", 0);
    left.end(15, true);
    // 10 s more than a cluster's run was estimated to take.
    left.begin(cluster, 20);
    left.end(20 + 20 + 10, true);
    left.begin(standalone[1]?.file ?? "", 55);
    expect(left.left(55)).toBeCloseTo(whole - RUN_S - (RUN_S + 5) + 2 * 10);
  });
});
