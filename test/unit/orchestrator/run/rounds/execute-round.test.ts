import { expect, test } from "vitest";
import { runsOfLine } from "../../../../../src/orchestrator/run/rounds/execute-round.js";

test("a second of a run is that run's line alone; all that the generator says besides is everybody's", () => {
  const runs = ["none", "iovalkey", "ioredis"];
  const second = { event: "second", t_s: 1, requests_per_second: 5 };
  expect(runsOfLine(JSON.stringify({ ...second, run: 1 }), runs)).toEqual(["iovalkey"]);
  for (const line of [
    JSON.stringify(second),
    '{"event":"phase","phase":"drained"}',
    "Warning: odd",
  ])
    expect(runsOfLine(line, runs)).toEqual(runs);
});
