import { describe, expect, test } from "vitest";
import {
  CampaignProgress,
  TimeLeft,
} from "../../../../src/orchestrator/campaign/campaign-progress.js";
import { estimateCampaignS } from "../../../../src/orchestrator/plan/estimate.js";
import { referencesIn } from "../../../../src/orchestrator/plan/rankings.js";
import { EventLog, type NewEvent } from "../../../../src/orchestrator/ui/event-log.js";
import { planOf } from "../../../helpers/events.js";

test("a run tells its round, and of how many that count it is one: a reference has several in a round", () => {
  const clients = [
    "iovalkey",
    "ioredis@valkey",
    "valkey-glide",
    "node-redis@valkey",
    "iovalkey+autopipelining",
    "ioredis@valkey+autopipelining",
  ];
  const plan = planOf("--clients", clients.join(","), "--runs", "5");
  const events: NewEvent[] = [];
  const progress = new CampaignProgress(
    new EventLog({ show: (event) => events.push(event), close: () => {} }),
    plan,
    {},
  );
  for (const run of plan.runs) progress.started([run]);
  const [reference = ""] = referencesIn(plan);
  const started = events.filter((event) => event.event === "run_started");
  const ofReference = started.filter((event) => event.configuration_hash === reference);
  expect(ofReference.map(({ run, round }) => [run, round])).toEqual([
    ...Array.from({ length: 10 }, (_, index) => [index + 1, Math.floor(index / 2) + 1]),
  ]);
  expect(ofReference.every((event) => event.runs_per_configuration === 10)).toBe(true);
  expect(
    started.find((event) => event.configuration_hash !== reference)?.runs_per_configuration,
  ).toBe(5);
});

const OVERHEADS = { none: 1, standalone: 2, cluster: 7 };
const flags = ["--warmup", "3", "--cooldown", "5", "--runs", "3"];
const plan = planOf(...flags);
const [first = "", second = "", third = ""] = plan.runs.map(({ file }) => file);
/** Warm-up, window, overhead, and the pause after it. */
const RUN_S = 3 + 10 + 2 + 5;

describe("the time left", () => {
  test("starts with the plan's estimate and counts down second by second", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    const whole = estimateCampaignS(plan, OVERHEADS);
    expect(left.secondsLeft(0)).toBe(whole);
    left.start([first], 100);
    expect(left.secondsLeft(100)).toBeCloseTo(whole);
    expect(left.secondsLeft(107)).toBeCloseTo(whole - 7);
  });

  test("grows after runs that took longer than estimated", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    const whole = estimateCampaignS(plan, OVERHEADS);
    left.start([first], 0);
    left.finish(15 + 4, true);
    left.start([second], 24);
    expect(left.secondsLeft(24)).toBeCloseTo(whole - RUN_S + 2 * 4);
  });

  test("is of the runs that are expected, where they become known as the campaign goes", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    const whole = estimateCampaignS(plan, OVERHEADS);
    left.start([first], 0);
    left.finish(15, true);
    const more = plan.runs.map((run) => ({ ...run, file: `more-${run.file}` }));
    left.expect([...plan.runs, ...more]);
    expect(left.secondsLeft(15)).toBeCloseTo(whole - 15 + more.length * RUN_S);
    left.start([second], 20);
    left.finish(35, true);
    left.expect(plan.runs.slice(0, 2));
    // The report alone.
    expect(left.secondsLeft(35)).toBeCloseTo(estimateCampaignS({ ...plan, runs: [] }, OVERHEADS));
  });

  test("is never negative while a run takes longer than its estimate, and keeps the later runs", () => {
    const left = new TimeLeft(plan, OVERHEADS);
    left.start([first], 0);
    expect(left.secondsLeft(1000)).toBeCloseTo(estimateCampaignS(plan, OVERHEADS) - RUN_S);
    left.finish(1000, false);
    left.start([second], 1000);
    left.finish(2000, false);
    left.start([third], 2000);
    expect(left.secondsLeft(9000)).toBeGreaterThanOrEqual(0);
  });
});
