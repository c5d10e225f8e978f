import { describe, expect, test } from "vitest";
import { OpenLoopRecorder } from "../../../../src/benchmark/open-loop/open-loop-recorder.js";
import {
  createArrivals,
  type ScheduleShare,
  streamOfShare,
} from "../../../../src/benchmark/open-loop/send-schedule.js";
import { idleCpuMs, sharesWakes } from "../../../../src/benchmark/open-loop/shared-wakes.js";
import type { EncodedHistogram } from "../../../../src/contract/latency-figures.js";
import { decodeHistogram } from "../../../../src/judge/histogram.js";
import { sum } from "../../../../src/kit/numbers.js";
import { findProfile } from "../../../../src/traffic/lookup.js";
import { openTraffic } from "../../../../src/traffic/streams.js";
import { traceColumns } from "../../../../src/traffic/trace.js";
import { placesOf } from "../../../helpers/worker-places.js";

function newRecorder(): OpenLoopRecorder {
  const recorder = new OpenLoopRecorder(String);
  recorder.open(1_000);
  return recorder;
}

/** All values in whole milliseconds, in order. */
const valuesOf = (encoded: EncodedHistogram | undefined): number[] => {
  if (!encoded) return [];
  const histogram = decodeHistogram(encoded);
  return Array.from({ length: encoded.count }, (_, rank) =>
    Math.round(histogram.getValueAtPercentile((100 * (rank + 0.5)) / encoded.count) / 1000),
  );
};

const figuresOf = (recorder: OpenLoopRecorder) => recorder.figures(500, true);

describe("the recorder of an open loop", () => {
  test("takes lateness only from sends that did not wait for a connection", () => {
    const recorder = newRecorder();
    recorder.sent(1_000, 1_000.2, false);
    recorder.sent(1_010, 1_013, false);
    recorder.sent(1_020, 1_200, true);
    const { schedule } = figuresOf(recorder);
    expect(schedule).toMatchObject({
      offered: 3,
      sent: 3,
      late: 1,
      blocked: 1,
      lateness: { count: 2 },
    });
    expect(valuesOf(schedule?.lateness)).toEqual([0, 3]);
  });

  test("counts ages from the intended send, service times from the send; what was never sent has none", () => {
    const recorder = newRecorder();
    for (const due_ms of [1_000, 1_010, 1_020]) recorder.sent(due_ms, due_ms + 30, true);
    recorder.answer("limited", 429, 1_000, 1_030, 1_050);
    recorder.lost(1_010, 1_040, 1_100);
    recorder.timedOut(1_020, 1_050, 1_150);
    recorder.dropped(1_000, 1_300);
    recorder.unsent(1_480, 1_500);
    recorder.close();
    const { counts, histograms, service_histograms, schedule } = figuresOf(recorder);
    expect(counts).toMatchObject({
      sent: 3,
      limited: 1,
      connection_errors: 1,
      timed_out: 1,
      followed: 0,
    });
    expect(schedule).toMatchObject({ offered: 5, sent: 3, dropped: 1, unsent: 1 });
    expect(valuesOf(histograms.limited)).toEqual([50]);
    expect(valuesOf(histograms.censored)).toEqual([20, 90, 130, 300]);
    expect(valuesOf(service_histograms?.limited)).toEqual([20]);
    expect(valuesOf(service_histograms?.censored)).toEqual([60, 100]);
  });

  test("follows what was in flight at the close: in both latencies, not in the window", () => {
    const recorder = newRecorder();
    for (const due_ms of [1_000, 1_010, 1_020]) recorder.sent(due_ms, due_ms, false);
    recorder.answer("allowed", 200, 1_000, 1_000, 1_210);
    recorder.close();
    recorder.answer("allowed", 200, 1_010, 1_010, 1_900);
    recorder.timedOut(1_020, 1_020, 2_020);
    const { counts, histograms, service_histograms, slices } = figuresOf(recorder);
    expect(counts).toMatchObject({
      sent: 3,
      allowed: 1,
      followed: 2,
      after_window: { allowed: 1, timed_out: 1 },
      by_code: { "200": 1 },
    });
    for (const byOutcome of [histograms, service_histograms]) {
      expect(byOutcome?.allowed.count).toBe(2);
      expect(byOutcome?.censored.count).toBe(1);
    }
    expect(slices.allowed).toEqual([0, 0, 1, 0, 0]);
    expect(sum(slices.failed)).toBe(0);
    expect(recorder.sample(1_500)).toMatchObject({ allowed: 1, failed: 0 });
  });
});

test.runIf(process.platform === "linux")("idle time never falls", () => {
  const idleBefore_ms = idleCpuMs();
  expect(idleBefore_ms).toBeGreaterThan(0);
  expect(idleCpuMs()).toBeGreaterThanOrEqual(idleBefore_ms ?? Number.NaN);
});

test.each<[string, number | undefined, number, boolean]>([
  ["a whole CPU was idle throughout", 3_000, 3_000, false],
  ["more than one was", 7_000, 3_000, false],
  ["less than one was", 2_999, 3_000, true],
  ["the idle time is not known", undefined, 3_000, true],
  ["the warm-up was too short to tell", 999, 999, true],
  ["there was no warm-up", 0, 0, true],
])("where %s, sends share wakes or not", (_case, idle_ms, warmup_ms, shared) => {
  expect(sharesWakes(idle_ms, warmup_ms)).toBe(shared);
});

const whole: ScheduleShare = {
  rate_per_second: 5000,
  arrivals: "constant",
  seed: 1,
  index: 0,
  of: 1,
};

const take = (count: number, share: ScheduleShare): number[] =>
  Array.from({ length: count }, createArrivals(share));

test("constant arrivals are evenly spaced, and do not drift however long the run", () => {
  expect(take(4, whole)).toEqual([0, 0.2, 0.4, 0.6]);
  const next = createArrivals({ ...whole, rate_per_second: 3 });
  for (let send = 0; send < 3_000_000; send++) next();
  expect(next()).toBe(1_000_000_000);
});

describe("Poisson arrivals", () => {
  const poisson: ScheduleShare = { ...whole, arrivals: "poisson" };
  const gaps = take(200_000, poisson).map((at, index, all) => at - (all[index - 1] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;

  test("come at the rate on average", () => {
    // The mean of n exponential gaps has a standard deviation of 1/√n of itself.
    expect(Math.abs(mean / 0.2 - 1)).toBeLessThan(5 / Math.sqrt(gaps.length));
  });

  test("are the same for the same seed, and others for another", () => {
    expect(take(5, poisson)).toEqual(take(5, poisson));
    expect(take(5, poisson)).not.toEqual(take(5, { ...poisson, seed: 2 }));
  });
});

test.each(["constant", "poisson"] as const)(
  "shares of %s arrivals are the whole schedule together, however many workers there are",
  (arrivals) => {
    const shares = [0, 1, 2].flatMap((index) => take(100, { ...whole, arrivals, index, of: 3 }));
    expect(shares.sort((a, b) => a - b)).toEqual(take(300, { ...whole, arrivals }));
  },
);

test("the shares together have the requests of the whole schedule, in its order", () => {
  const counting = () => {
    let next = 0;
    return { next: () => next++ };
  };
  const share = streamOfShare(counting(), { ...whole, index: 2, of: 3 });
  expect([share.next(), share.next(), share.next()]).toEqual([2, 5, 8]);
});

describe("arrivals of a trace", () => {
  const { times_ms } = traceColumns(3);
  times_ms.set([0, 100, 1000]);
  // 3 requests a pass of 1.5 s: 2 a second in the mean.
  const trace: ScheduleShare = { ...whole, arrivals: "trace", rate_per_second: 2, times_ms };

  test("come at its times, a mean gap between its passes", () => {
    expect(take(5, trace)).toEqual([0, 100, 1000, 1500, 1600]);
  });

  test("come faster at a higher rate", () => {
    expect(take(5, { ...trace, rate_per_second: 20 })).toEqual([0, 10, 100, 150, 160]);
  });

  test("are the same schedule for two workers", () => {
    const [even, odd] = [0, 1].map((index) => take(3, { ...trace, index, of: 2 }));
    expect([even, odd]).toEqual([
      [0, 1000, 1600],
      [100, 1500, 2500],
    ]);
  });
});

/**
 * All sends of the first second at 1000/s, in their order: when each is due, and which request it
 * is.
 */
function sendsOf(
  generators: number,
  workers: number,
  arrivals: ScheduleShare["arrivals"],
): [number, number][] {
  const seed = 7;
  return placesOf(generators, workers)
    .flat()
    .flatMap((place): [number, number][] => {
      const share = { rate_per_second: 1000, arrivals, seed, ...place };
      const whole = openTraffic(findProfile("realistic"), seed, {
        connections: 1,
        first: 0,
        count: 1,
      });
      const [stream] = whole.streams.map((stream) => streamOfShare(stream, share));
      const next = createArrivals(share);
      const sends: [number, number][] = [];
      for (let due_ms = next(); due_ms < 1000; due_ms = next())
        sends.push([due_ms, stream?.next() ?? Number.NaN]);
      return sends;
    })
    .sort(([a], [b]) => a - b);
}

test.each(["constant", "poisson"] as const)(
  "an open loop of %s arrivals sends the same keys at the same times, whatever the number of generators and workers",
  (arrivals) => {
    const alone = sendsOf(1, 1, arrivals);
    expect(alone.length).toBeGreaterThan(900);
    for (const [generators, workers] of [
      [1, 2],
      [2, 1],
      [4, 1],
      [4, 3],
    ] as const)
      expect(sendsOf(generators, workers, arrivals)).toEqual(alone);
  },
);
