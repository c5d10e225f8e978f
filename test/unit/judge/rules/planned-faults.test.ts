import { describe, expect, test } from "vitest";
import type { FaultRecord } from "../../../../src/contract/fault-schemas.js";
import { targetOutcome } from "../../../../src/judge/outcome.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import { reading, type ValidRun, validEvidence } from "../../../helpers/evidence.js";

const restart: FaultRecord = {
  name: "store-restart",
  action: "restart",
  roles: ["store-1"],
  planned: { start_s: 3.5, length_s: 0.5 },
  injected: { from_s: 3.5, to_s: 4.1 },
  undone: true,
};
const planned = { start_s: 3.5, length_s: 0 };
const flush: FaultRecord = { ...restart, name: "script-flush", action: "flush-scripts", planned };
const serverRestart: FaultRecord = { ...restart, name: "server-restart", roles: ["server-1"] };

/** A run with these faults, changed. */
function runWith(faults: FaultRecord[], change: (run: ValidRun) => void = () => {}): ValidRun {
  const run = { ...validEvidence(), faults };
  change(run);
  return run;
}
const reasonsOf = (run: ValidRun) => judgeRun(run).reasons.map(({ rule }) => rule);

/** The store is another process, which has counted less. */
function restartStore({ store }: ValidRun): void {
  const [node] = store.nodes;
  if (node) node.at_end = reading({ run_id: "store-run-2", uptime_s: 1, decisions: 17 });
}

describe("rules do not judge what a planned fault explains:", () => {
  test("a store that was restarted on purpose", () => {
    expect(reasonsOf(runWith([], restartStore))).toEqual(expect.arrayContaining(["M8", "M14"]));
    const verdict = judgeRun(runWith([restart], restartStore));
    expect(verdict.reasons).toEqual([]);
    expect(verdict.not_applicable.map(({ rule }) => rule)).toContain("M8");
  });

  test("but a restart of another role, or beside another fault", () => {
    expect(reasonsOf(runWith([serverRestart], restartStore))).toContain("M14");
    expect(reasonsOf(runWith([flush], restartStore))).toEqual(
      expect.arrayContaining(["M8", "M14"]),
    );
  });

  test("a server that was restarted on purpose", () => {
    const younger = ({ consumers }: ValidRun) => {
      const [server] = consumers;
      if (server) server.at_end = { ...server.at_end, uptime_s: 1, requests: 40 };
    };
    expect(reasonsOf(runWith([restart], younger))).toContain("M8");
    expect(reasonsOf(runWith([serverRestart], younger))).toEqual([]);
  });

  test("a mix of outcomes that failures and lost counts shift", () => {
    const shifted = ({ prediction }: ValidRun) => {
      prediction.limited_share = 0.5;
    };
    expect(reasonsOf(runWith([flush], shifted))).toEqual(["M10"]);
    expect(reasonsOf(runWith([restart], shifted))).toEqual([]);
  });

  test("requests that are counted twice stay invalid beside any fault", () => {
    const countTwice = ({ counts }: ValidRun) => {
      counts.sent += 5;
    };
    expect(reasonsOf(runWith([restart], countTwice))).toContain("M8");
  });

  test("a ramp is looked for before the fault", () => {
    const ramp = ({ slices }: ValidRun) => {
      slices.allowed = slices.allowed.map((count, index) => (index < 10 ? count / 2 : count));
      slices.limited = slices.limited.map((count, index) => (index < 10 ? count / 2 : count));
    };
    expect(reasonsOf(runWith([flush], ramp))).toContain("M26");
    const early = {
      ...flush,
      planned: { start_s: 2, length_s: 0 },
      injected: { from_s: 2, to_s: 2 },
    };
    expect(reasonsOf(runWith([early], ramp))).not.toContain("M26");
  });
});

describe("the outcome beside a fault is what the target did before it and at the end:", () => {
  /** Requests that failed in so many slices from that one on. */
  const failing = (from: number, slices: number, perSlice = 200) =>
    runWith([restart], (run) => {
      run.slices.failed = run.slices.failed.map((_, index) =>
        index >= from && index < from + slices ? perSlice : 0,
      );
      run.slices.allowed = run.slices.allowed.map((count, index) =>
        index >= from && index < from + slices ? Math.max(0, count - perSlice) : count,
      );
      run.duration = 5;
    });
  const outcome = (run: ValidRun) =>
    targetOutcome(run, { status: "valid", reasons: [], not_applicable: [] }).outcome;
  const early = {
    ...restart,
    planned: { start_s: 1, length_s: 1 },
    injected: { from_s: 1, to_s: 2 },
  };

  test("failures of the fault are what is measured", () => {
    // The window has 50 slices.
    expect(outcome(failing(10, 8))).toBe("failed");
    expect(outcome({ ...failing(10, 8), faults: [early] })).toBe("served");
  });

  test("a target that does not recover has failed; one that failed before has, too", () => {
    expect(outcome({ ...failing(10, 40), faults: [early] })).toBe("failed");
    expect(outcome({ ...failing(2, 2), faults: [early] })).toBe("failed");
    // One late time-out of a request that was sent in the outage is no relapse.
    expect(outcome({ ...failing(30, 1, 10), faults: [early] })).toBe("served");
  });
});
