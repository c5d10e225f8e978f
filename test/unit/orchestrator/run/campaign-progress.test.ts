import { expect, test } from "vitest";
import type { EventOf } from "../../../../src/contract/events.js";
import type { MeasuredResult } from "../../../../src/contract/result.js";
import { judge } from "../../../../src/judge/rules.js";
import { Progress } from "../../../../src/orchestrator/run/campaign-progress.js";
import { EventLog, type NewEvent } from "../../../../src/orchestrator/ui/event-log.js";
import { planOf } from "../../../helpers/events.js";
import { validEvidence } from "../../../helpers/evidence.js";

/** What is reported when this result is there. */
function finished(change: Partial<MeasuredResult>, saved = true): EventOf<"run_finished"> {
  const events: NewEvent[] = [];
  const plan = planOf();
  const [run] = plan.runs;
  if (!run) throw new Error("a run");
  const eventLog = new EventLog({ show: (event) => events.push(event), close: () => {} });
  const progress = new Progress(eventLog, plan, {});
  const evidence = validEvidence();
  progress.started(run);
  progress.finished(run, { ...evidence, verdict: judge(evidence), ...change }, saved);
  return events.at(-1) as EventOf<"run_finished">;
}

test("a run that the target spoiled is reported with its outcome, and an unknown p99 with its lower bound", () => {
  const { latency } = validEvidence();
  if (!latency) throw new Error("latency");
  const event = finished({
    outcome: "failed",
    outcome_text: "2 % failed",
    latency: { ...latency, p99: null, bounds: { p99: { low: 30.1, high: null } } },
  });
  expect(event).toMatchObject({ status: "valid", outcome: "failed", outcome_text: "2 % failed" });
  expect(event.figures).toMatchObject({ p50_ms: latency.p50, p99_at_least_ms: 30.1 });
  expect(event.figures).not.toHaveProperty("p99_ms");
});

test("a run tells its round, and of how many that count it is one: a reference has several in a round", () => {
  const clients = [
    ...["iovalkey", "ioredis@valkey", "valkey-glide", "node-redis@valkey", "iovalkey+autopipelining"],
    ...["ioredis@valkey+autopipelining"],
  ];
  const plan = planOf("--clients", clients.join(","), "--runs", "5");
  const events: NewEvent[] = [];
  const progress = new Progress(
    new EventLog({ show: (event) => events.push(event), close: () => {} }),
    plan,
    {},
  );
  for (const run of plan.runs) progress.started(run);
  const [reference = ""] = plan.references ?? [];
  const started = events.filter((event) => event.event === "run_started");
  const ofReference = started.filter((event) => event.configuration_hash === reference);
  expect(ofReference.map(({ run, round }) => [run, round])).toEqual([
    [0, 0],
    ...Array.from({ length: 10 }, (_, index) => [index + 1, Math.floor(index / 2) + 1]),
  ]);
  expect(ofReference.every((event) => event.runs_per_configuration === 10)).toBe(true);
  expect(started.find((event) => event.configuration_hash !== reference)?.runs_per_configuration).toBe(5);
});
