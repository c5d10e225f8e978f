import { expect, test } from "vitest";
import { Progress } from "../../../../src/orchestrator/run/campaign-progress.js";
import { EventLog, type NewEvent } from "../../../../src/orchestrator/ui/event-log.js";
import { planOf } from "../../../helpers/events.js";

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
  for (const run of plan.runs) progress.started([run]);
  const [reference = ""] = plan.references ?? [];
  const started = events.filter((event) => event.event === "run_started");
  const ofReference = started.filter((event) => event.configuration_hash === reference);
  expect(ofReference.map(({ run, round }) => [run, round])).toEqual([
    ...Array.from({ length: 10 }, (_, index) => [index + 1, Math.floor(index / 2) + 1]),
  ]);
  expect(ofReference.every((event) => event.runs_per_configuration === 10)).toBe(true);
  expect(started.find((event) => event.configuration_hash !== reference)?.runs_per_configuration).toBe(5);
});
