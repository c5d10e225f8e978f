import { expect, test } from "vitest";
import type { Limits } from "../../../../src/contract/configuration.js";
import type { FaultRecord } from "../../../../src/contract/fault-schemas.js";
import type { Timeline } from "../../../../src/contract/timeline.js";
import { faultFiguresOf } from "../../../../src/orchestrator/run/run-fault-figures.js";
import { validEvidence } from "../../../helpers/evidence.js";

/**
 * One key at 100 requests/s: 5 s of warm-up, then a window of 20 s; a fault at 10 s, a hair before
 * its slice.
 */
function overAdmission(
  limits: Limits,
  action: FaultRecord["action"],
  allowed: readonly number[],
  requestsPerSlice = 10,
) {
  const { configuration, counts, ...evidence } = validEvidence();
  if (!configuration) throw new Error("the evidence has no configuration");
  const slices = Array.from({ length: 200 }, (_, slice) => slice);
  const of = (count: number) => slices.map(() => count);
  const timeline: Timeline = {
    width_ms: 100,
    opened_at: "2026-01-01T00:00:05.000Z",
    opens_s: 5,
    allowed: [...allowed],
    limited: allowed.map((count) => requestsPerSlice - count),
    failed: of(0),
    timed_out: of(0),
    p50_us: of(1000),
    p99_us: of(1000),
    p99_second_us: of(1000),
    p99_before_us: of(1000),
    backlog: of(0),
  };
  const fault: FaultRecord = {
    action,
    roles: ["store-1"],
    planned: { start_s: 10, length_s: 0 },
    injected: { from_s: 9.991, to_s: 10.01 },
    undone: true,
  };
  const figures = faultFiguresOf({
    ...evidence,
    configuration: { ...configuration, traffic: "fixed", limits },
    counts: { ...counts, sent: 2_000 },
    warmup: { took_s: 5, requests: 500, lead_in: { took_s: 2, requests: 200 } },
    timeline,
    faults: [fault],
  });
  return figures?.faults[0]?.over_admission;
}

const quota = { points: 300, window_s: 60, block_s: 0 };
const none = Array.from({ length: 200 }, () => 0);

test("counters that are lost give the quota anew: the model says by how much", () => {
  const anew = none.map((_, slice) => (slice >= 100 && slice < 130 ? 10 : 0));
  const lost = { admitted: 300, counters_kept: 0, counters_lost: 300 };
  expect(overAdmission(quota, "flush-keys", anew)).toEqual(lost);
  // Some requests fall between the fault and its slice.
  expect(overAdmission(quota, "flush-keys", anew, 100)).toEqual(lost);
});

test("a fault that takes no counters has one prediction; quotas that cannot be used up have none", () => {
  expect(overAdmission(quota, "pause", none)).toEqual({ admitted: 0, counters_kept: 0 });
  const all = none.map(() => 10);
  expect(overAdmission({ ...quota, points: 2_500 }, "flush-keys", all)).toBeNull();
  // A quota that the run uses up after the fault.
  expect(overAdmission({ ...quota, points: 2_000 }, "pause", all)).toEqual({
    admitted: 1000,
    counters_kept: 500,
  });
});
