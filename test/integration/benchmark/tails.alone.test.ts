import { beforeAll, describe, expect, test } from "vitest";
import { sum } from "../../../src/contract/numbers.js";
import type { Bounds, MeasuredResult, MovableFigure } from "../../../src/contract/result.js";
import { judgeTrial } from "../../../src/orchestrator/max-rate/objective.js";
import { parseThresholds } from "../../../src/orchestrator/request/thresholds.js";
import { build, measured } from "../../helpers/programs.js";
import type { StubBehaviour } from "../../helpers/stub-program.js";
import { type StubCounts, StubServer } from "../../helpers/stub-server.js";

beforeAll(build);

interface Measured {
  result: MeasuredResult;
  done: StubCounts;
}

/** So long that a busy machine times out no request that the stub answers. */
const TIMEOUT_S = 2;
const DELAY_MS = 50;
/** Longer than the window, so that every stalled request is answered after it. */
const STALLED_MS = 2_300;
const WINDOW_S = 2;

type Case = readonly [StubBehaviour, Readonly<Record<string, string>>];

/** At once: the stubs only wait, and people wait for tests. More than two would disturb each other. */
const measureTwo = (first: Case, second: Case): Promise<[Measured, Measured]> =>
  Promise.all([measure(first), measure(second)]);

/** One window without a warm-up, so that the stub counts what the result counts. */
async function measure([behaviour, env]: Case): Promise<Measured> {
  const stub = await StubServer.startForHook(behaviour);
  const fixed = { TARGET_URL: stub.url, DURATION: String(WINDOW_S), WARMUP: "0", TIMEOUT: String(TIMEOUT_S) };
  try {
    const result = await measured({ ...fixed, ...env });
    return { result, done: await stub.counts() };
  } finally {
    await stub.kill();
  }
}

/** Every sent request is in one count of the window or after it, and every latency or age in one histogram. */
function expectAccounted({
  result: { counts, generators, requests, slices, schedule, ...result },
}: Measured) {
  const { after_window: after, followed } = counts;
  const ended = counts.allowed + counts.limited + counts.failed_answers;
  const unanswered = counts.connection_errors + counts.timed_out;
  expect(counts.sent).toBe(ended + unanswered + followed + counts.cut);
  expect(counts.cut).toBe(0);
  expect(sum(Object.values(after))).toBe(followed);
  expect(requests.total).toBe(counts.allowed + counts.limited);
  expect(result.timeouts).toBe(counts.timed_out + after.timed_out);
  const histograms = generators[0]?.histograms;
  expect(histograms?.allowed.count).toBe(counts.allowed + after.allowed);
  expect(histograms?.failed.count).toBe(counts.failed_answers + after.failed_answers);
  const neverSent = (schedule?.dropped ?? 0) + (schedule?.unsent ?? 0);
  expect(histograms?.censored.count).toBe(unanswered + after.connection_errors + after.timed_out + neverSent);
  expect(sum(slices.allowed)).toBe(counts.allowed);
  expect(sum(slices.failed)).toBe(counts.failed_answers + unanswered);
}

/** The bounds of a figure that must not have a value. */
function boundsOf({ result: { latency } }: Measured, figure: MovableFigure): Bounds {
  expect(latency?.[figure]).toBeNull();
  const bounds = latency?.bounds?.[figure];
  if (!bounds) throw new Error(`no bounds of ${figure}: ${JSON.stringify(latency)}`);
  return bounds;
}

/** The value of a figure that must have one. */
function figureOf({ result: { latency } }: Measured, figure: MovableFigure): number {
  const value = latency?.[figure];
  if (typeof value !== "number") throw new Error(`no ${figure}: ${JSON.stringify(latency)}`);
  return value;
}

describe.each([
  ["closed", { CONNECTIONS: "60" }, { CONNECTIONS: "400" }],
  // So many connections that no send waits for one, also where the machine is busy.
  ["open", { CONNECTIONS: "400", RATE: "300" }, { CONNECTIONS: "400", RATE: "500" }],
] as const)("tails in the %s loop (M23)", (loop, load, heavyLoad) => {
  let plain: Measured;
  let stalling: Measured;
  let timingOut: Measured;
  let silent: Measured;
  let failing: Measured;

  beforeAll(async () => {
    [plain, stalling] = await measureTwo(
      [{ delay_ms: DELAY_MS }, load],
      // A little more than 1 %, so that the p99 is one of them.
      [
        { delay_ms: DELAY_MS, stall: 75, stalled_ms: STALLED_MS },
        { ...load, TIMEOUT: "4" },
      ],
    );
    [timingOut, failing] = await measureTwo(
      [{ delay_ms: DELAY_MS, hang: 200 }, load],
      [{ delay_ms: DELAY_MS, fail: 50 }, load],
    );
    silent = await measure([{ delay_ms: 2 * DELAY_MS, hang: 80 }, heavyLoad]);
  });

  test("a server that serves its load has all figures, and outcome served", () => {
    expectAccounted(plain);
    const { counts, latency, outcome, generators } = plain.result;
    expect(latency?.bounds).toBeUndefined();
    expect(generators[0]?.histograms.censored.count).toBe(0);
    expect(counts.followed).toBeGreaterThan(0);
    expect(counts.allowed + counts.after_window.allowed).toBe(plain.done.answered);
    expect(outcome).toBe("served");
  });

  test("1.3 % stalled past the window: followed into the tail, and not into the throughput", () => {
    expectAccounted(stalling);
    const { counts, outcome } = stalling.result;
    expect(stalling.done.stalled).toBeGreaterThan(5);
    expect(counts.after_window.allowed).toBeGreaterThanOrEqual(stalling.done.stalled);
    expect(counts.allowed + counts.after_window.allowed).toBe(stalling.done.answered);
    expect(figureOf(stalling, "p99")).toBeGreaterThanOrEqual(STALLED_MS);
    expect(figureOf(stalling, "p99")).toBeGreaterThan(figureOf(plain, "p99"));
    expect(figureOf(stalling, "p99_9")).toBeGreaterThan(figureOf(plain, "p99_9"));
    // They were late, but all of them were served.
    expect(outcome).toBe("served");
  });

  test("0.5 % timed out: no p99.9, a p99, and a threshold on the p99.9 is not met", () => {
    expectAccounted(timingOut);
    const { counts } = timingOut.result;
    expect(counts.timed_out + counts.after_window.timed_out).toBe(timingOut.done.hung);
    expect(timingOut.done.hung).toBeGreaterThan(1);
    expect(figureOf(timingOut, "p99")).toBeGreaterThanOrEqual(DELAY_MS);
    const { low, high } = boundsOf(timingOut, "p99_9");
    expect(high).toBeNull();
    expect(low).toBeGreaterThan(figureOf(timingOut, "p99"));
    // No request was given up before the time-out.
    expect(low).toBeGreaterThanOrEqual(0.99 * 1000 * TIMEOUT_S);
    expect(boundsOf(timingOut, "max").high).toBeNull();
    if (loop !== "open") return;
    // Whatever its outcome says.
    const served = { ...timingOut.result, outcome: "served" } as const;
    expect(judgeTrial(served, parseThresholds("--slo", "p99<60s")).reason).toBe("");
    expect(judgeTrial(served, parseThresholds("--slo", "p99.9<60s")).reason).toMatch(/p99[._]9/);
  });

  test("1.25 % never answered at 400 connections: no p99, and outcome failed", () => {
    expectAccounted(silent);
    const { counts, outcome, outcome_text, verdict, latency } = silent.result;
    expect(counts.timed_out + counts.after_window.timed_out).toBe(silent.done.hung);
    const { low, high } = boundsOf(silent, "p99");
    expect(high).toBeNull();
    expect(low).toBeGreaterThanOrEqual(0.99 * 1000 * TIMEOUT_S);
    expect(latency?.p90).not.toBeNull();
    expect(outcome).toBe("failed");
    expect(outcome_text).toBeTruthy();
    // The measurement itself is sound.
    expect(verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
  });

  test("2 % answered with 503: a quick failure improves no percentile either", () => {
    expectAccounted(failing);
    const { counts, outcome, verdict, latency } = failing.result;
    expect(counts.failed_answers + counts.after_window.failed_answers).toBe(failing.done.failed);
    expect(boundsOf(failing, "p99").high).toBeNull();
    expect(latency?.stddev).toBeNull();
    expect(outcome).toBe("failed");
    expect(verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
  });

  test.runIf(loop === "open")("service time has the same failures, from the send", () => {
    const { service_time } = timingOut.result;
    expect(service_time?.p99).not.toBeNull();
    expect(service_time?.p99_9).toBeNull();
    expect(service_time?.bounds?.p99_9?.low).toBeGreaterThanOrEqual(0.99 * 1000 * TIMEOUT_S);
  });
});

test("half the capacity that is offered: invalid as saturated, outcome overloaded, and no tail", async () => {
  const half = await measure([
    { slots: 10, slot_ms: 20 },
    { RATE: "1000", CONNECTIONS: "40" },
  ]);
  expectAccounted(half);
  const { verdict, outcome, schedule } = half.result;
  expect(verdict.reasons.find(({ rule }) => rule === "M5")?.text).toMatch(/^schedule not kept: saturated: /);
  expect(outcome).toBe("overloaded");
  expect(schedule?.unsent).toBeGreaterThan(500);
  // Half of the requests were never sent: how long they would have taken is not known.
  expect(boundsOf(half, "p99").high).toBeNull();
  expect(boundsOf(half, "p75").high).toBeNull();
});
