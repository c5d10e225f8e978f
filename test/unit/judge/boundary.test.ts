import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { describe, expect, test } from "vitest";
import { decisionsByKey } from "../../../src/benchmark/measurement/boundary-counts.js";
import type { DecisionColumns } from "../../../src/benchmark/measurement/decision-log.js";
import type { Limits } from "../../../src/contract/configuration.js";
import type { Algorithm } from "../../../src/contract/target.js";
import {
  ADMITTED,
  intervalsOf,
  type KeyDecisions,
  LIMITED,
  mostAdmittedWithin,
  UNDECIDED,
} from "../../../src/judge/boundary/algorithms.js";
import {
  boundaryOf,
  brokenPromiseText,
  retryAfterOf,
} from "../../../src/judge/boundary/boundary-findings.js";
import { admissions } from "../../../src/traffic/admission.js";
import { boundary } from "../../../src/traffic/boundary-traffic.js";
import { openTraffic } from "../../../src/traffic/streams.js";

const RATE = 5000;
const WINDOW_S = 2;
const QUOTA = 10;
const WARMUP_S = 2;
const MEASURED_S = 8;
/** The monotonic clock is far from zero, and the wall clock from it. */
const ORIGIN_MS = 987_654.321;
const WALL_OFFSET_MS = 1_700_000_000_123.4;

const limits: Limits = { points: QUOTA, window_s: WINDOW_S, block_s: 0 };
const span = {
  opened_ms: ORIGIN_MS + 1000 * WARMUP_S,
  closed_ms: ORIGIN_MS + 1000 * (WARMUP_S + MEASURED_S),
  wall_offset_ms: WALL_OFFSET_MS,
};

/**
 * A limiter, asked at the moment at which it reads and, if another, at the one at which it writes.
 */
type Decide = (slot: number, now_s: number) => boolean;

/**
 * The requests of the traffic on a limiter, with latencies of up to 4 ms, as the logs of some
 * workers.
 */
function played(decide: Decide, workers = 1): KeyDecisions[] {
  const generator = xoroshiro128plus(3);
  const uniform = () => (generator.next() >>> 0) / 2 ** 32;
  const [stream] = openTraffic(boundary, 5, { connections: 1, first: 0, count: 1 }, limits).streams;
  const requests = Array.from({ length: RATE * (WARMUP_S + MEASURED_S) }, (_, n) => {
    const sent_ms = ORIGIN_MS + (1000 * n) / RATE;
    const took_ms = 0.2 + 3.8 * uniform();
    return {
      which: stream?.next() ?? 0,
      sent_ms,
      took_ms,
      decided_ms: sent_ms + took_ms * uniform(),
    };
  });
  const admitted = new Map<object, boolean>();
  for (const request of requests.toSorted((a, b) => a.decided_ms - b.decided_ms))
    admitted.set(request, decide(request.which, (request.decided_ms + WALL_OFFSET_MS) / 1000));
  const logs = Array.from({ length: workers }, (_, worker): DecisionColumns => {
    const ofWorker = requests.filter((_request, index) => index % workers === worker);
    return {
      which: Uint16Array.from(ofWorker, ({ which }) => which),
      sent_ms: Float64Array.from(ofWorker, ({ sent_ms }) => sent_ms),
      answered_ms: Float64Array.from(ofWorker, ({ sent_ms, took_ms }) => sent_ms + took_ms),
      outcome: Uint8Array.from(ofWorker, (request) => (admitted.get(request) ? ADMITTED : LIMITED)),
      wait_ms: new Float32Array(ofWorker.length).fill(Number.NaN),
      missed: 0,
    };
  });
  return decisionsByKey(boundary, logs);
}

const judged = (algorithm: Algorithm, keys: readonly KeyDecisions[]) =>
  boundaryOf({ ...span, keys, quota: QUOTA, window_s: WINDOW_S, algorithm });
const holds = (seen: ReturnType<typeof judged>) =>
  Object.fromEntries(seen.promises.map((promise) => [promise.id, promise.holds]));
const ALL_HOLD = { burst: true, rate: true, "over-admission": true, "under-admission": true };

test.each([
  ["fixed window", 1.5, 2],
  ["aligned window", 1.5, 2],
  ["sliding window", 1, 2],
  ["sliding log", 0.9, 1],
  ["token bucket", 1, 2.1],
  ["GCRA", 1, 2],
] satisfies [Algorithm, number, number][])(
  "a limiter that does what its algorithm says keeps every promise, however its requests overlap %s: %d to %d quotas in a window",
  (algorithm, least, most) => {
    const seen = judged(algorithm, played(admissions[algorithm](limits, 1000)));
    expect(holds(seen)).toEqual(ALL_HOLD);
    expect(brokenPromiseText(seen)).toBeUndefined();
    expect(seen).toMatchObject({ over_admission: { total: 0 }, under_admission: { total: 0 } });
    expect(seen.burst.factor).toBeGreaterThanOrEqual(least);
    expect(seen.burst.factor).toBeLessThanOrEqual(most);
    expect(seen.below).toMatchObject({ keys: 800, limited: 0 });
    expect(seen.above.admitted).toBeGreaterThan(200 * QUOTA);
    expect(seen.windows).toHaveLength(MEASURED_S / WINDOW_S);
  },
);

describe("a limiter that does something else is seen", () => {
  test("three times the quota", () => {
    const seen = judged(
      "fixed window",
      played(admissions["fixed window"]({ ...limits, points: 3 * QUOTA }, 1000)),
    );
    expect(holds(seen)).toEqual({
      ...ALL_HOLD,
      burst: false,
      rate: false,
      "over-admission": false,
    });
    expect(seen.over_admission.keys).toBeGreaterThan(150);
    expect(brokenPromiseText(seen)).toMatch(/quotas in a window, 2 at most/);
  });

  test("reads its count, and writes it when the answer leaves: concurrent requests see the same count", () => {
    const used = new Map<number, { until_s: number; count: number }>();
    const writes: { at_s: number; slot: number; count: number }[] = [];
    const decide: Decide = (slot, now_s) => {
      while ((writes[0]?.at_s ?? Number.POSITIVE_INFINITY) <= now_s) {
        const write = writes.shift();
        const state = write && used.get(write.slot);
        if (state && write) state.count = write.count;
      }
      let state = used.get(slot);
      if (!state || state.until_s <= now_s) {
        state = { until_s: now_s + WINDOW_S, count: 0 };
        used.set(slot, state);
      }
      if (state.count >= QUOTA) return false;
      writes.push({ at_s: now_s + 0.003, slot, count: state.count + 1 });
      return true;
    };
    expect(holds(judged("fixed window", played(decide)))).toMatchObject({
      "over-admission": false,
    });
  });

  test("counters of two processes, each of which gets half of the requests", () => {
    const processes = [1, 2].map(() => admissions["fixed window"](limits, 1000));
    let n = 0;
    const seen = judged(
      "fixed window",
      played((slot, now_s) => processes[n++ % 2]?.(slot, now_s) ?? false),
    );
    expect(holds(seen)).toMatchObject({
      burst: false,
      "over-admission": false,
      "under-admission": true,
    });
  });

  test("half of the quota, and a bucket that is a fixed window", () => {
    const half = played(admissions["fixed window"]({ ...limits, points: QUOTA / 2 }, 1000));
    expect(holds(judged("fixed window", half))).toEqual({ ...ALL_HOLD, "under-admission": false });
    const windows = played(admissions["fixed window"](limits, 1000));
    expect(holds(judged("GCRA", windows))).toMatchObject({
      "over-admission": false,
      "under-admission": false,
    });
    expect(holds(judged("sliding log", windows))).toMatchObject({ burst: false });
  });
});

test("the logs of several workers give what one worker's log gives", () => {
  const keys = () => admissions["fixed window"](limits, 1000);
  expect(judged("fixed window", played(keys(), 3))).toEqual(judged("fixed window", played(keys())));
});

const OUTCOMES = { admitted: ADMITTED, unknown: UNDECIDED } as const;
/**
 * A request of one key: when it was sent and answered in milliseconds, and what it met. A number is
 * the wait of a limited answer.
 */
type Met = readonly [sent_ms: number, answered_ms: number, met: "admitted" | "unknown" | number];
function keyOf(...requests: readonly Met[]): KeyDecisions {
  return {
    key: "user-0",
    isAbove: true,
    sent_ms: Float64Array.from(requests, ([sent]) => sent),
    answered_ms: Float64Array.from(requests, ([, answered]) => answered),
    outcome: Uint8Array.from(requests, ([, , met]) =>
      typeof met === "number" ? LIMITED : OUTCOMES[met],
    ),
    wait_ms: Float32Array.from(requests, ([, , met]) =>
      typeof met === "number" ? met : Number.NaN,
    ),
  };
}

test("a burst counts admissions that lie in a window from send to answer", () => {
  const mostIn = (...intervals: [number, number][]) =>
    mostAdmittedWithin(
      intervalsOf(
        keyOf(...intervals.map(([sent, answered]) => [sent, answered, "admitted"] as const)),
        [ADMITTED],
      ),
      1000,
    );
  expect(mostIn([0, 1], [500, 501], [998, 999.9])).toBe(3);
  // The third is answered at the edge of the window, and a window from the second on holds it.
  expect(mostIn([0, 1], [500, 501], [998, 1000])).toBe(2);
  // It was decided on at some moment, maybe after the window.
  expect(mostIn([0, 1], [500, 1400])).toBe(1);
  expect(mostIn([0, 5000], [10, 20], [30, 40])).toBe(2);
  expect(mostIn()).toBe(0);
});

describe("a wait", () => {
  const whole = { opened_ms: 0, closed_ms: 100_000, wall_offset_ms: 0 };
  const waits = (...requests: readonly Met[]) => {
    const waits = retryAfterOf([keyOf(...requests)], whole);
    return (
      waits && [
        waits.after.requests,
        waits.after.admitted,
        waits.before.requests,
        waits.before.admitted,
      ]
    );
  };

  test("is honoured when the first request after it is admitted, and none before", () => {
    expect(waits([0, 1, 2000], [500, 501, 2000], [2510, 2511, "admitted"])).toEqual([1, 1, 1, 0]);
  });

  test("is not honoured when the first request after it is limited, or one is admitted before", () => {
    expect(waits([0, 1, 2000], [2010, 2011, 2000])).toEqual([1, 0, 0, 0]);
    expect(waits([0, 1, 3000], [1500, 1501, "admitted"])).toEqual([0, 0, 1, 1]);
  });

  test("in whole seconds was rounded up: its last second says nothing", () => {
    expect(waits([0, 1, 2000], [1200, 1201, "admitted"])).toEqual([0, 0, 0, 0]);
    // Milliseconds are not rounded.
    expect(waits([0, 1, 2001], [1200, 1201, "admitted"])).toEqual([0, 0, 1, 1]);
  });

  test("says nothing where another request may have been admitted since, or answers overlap with its end", () => {
    expect(waits([0, 1, 1000], [900, 901, "admitted"], [1010, 1011, 1000])).toEqual([0, 0, 0, 0]);
    expect(
      waits([0, 1, 1000], [900, Number.POSITIVE_INFINITY, "unknown"], [1010, 1011, 1000]),
    ).toEqual([0, 0, 0, 0]);
    expect(waits([0, 1, 1000], [1010, 1015, 1000], [1012, 1014, "admitted"])).toEqual([0, 0, 0, 0]);
    expect(waits([0, 5, 1000], [1003, 1004, 1000])).toEqual([0, 0, 0, 0]);
  });
});

test("a request that was due in time counts in the last window when it is sent just after the end", () => {
  const late = keyOf([100, 101, "admitted"], [2100, 2101, "admitted"], [4000.2, 4001, 1000]);
  const boundary = boundaryOf({
    opened_ms: 0,
    closed_ms: 4000,
    wall_offset_ms: 0,
    keys: [late],
    quota: QUOTA,
    window_s: WINDOW_S,
    algorithm: "fixed window",
  });
  expect(boundary.windows.map(({ above }) => above)).toEqual([
    { admitted: 1, limited: 0 },
    { admitted: 1, limited: 1 },
  ]);
});
