import { describe, expect, test } from "vitest";
import {
  createArrivals,
  type ScheduleShare,
  streamOfShare,
} from "../../../../src/benchmark/open-loop/schedule.js";
import { traceColumns } from "../../../../src/traffic/trace.js";

const whole: ScheduleShare = { rate_per_second: 5000, arrivals: "constant", seed: 1, index: 0, of: 1 };

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
