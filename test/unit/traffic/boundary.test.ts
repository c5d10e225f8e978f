import { describe, expect, test } from "vitest";
import { boundary, KEYS_ABOVE, MOST_REQUESTS } from "../../../src/traffic/boundary.js";
import { openTraffic } from "../../../src/traffic/streams.js";

const binding = boundary.binding;
if (!binding) throw new Error("its quota binds");

const open = (rate_per_second: number) => ({
  model: "open" as const,
  rate_per_second,
  arrivals: "constant" as const,
  connections: 200,
});

test.each([
  [5000, 2, 10],
  [2500, 2, 5],
  // 14 points would be refilled every 142.86 ms.
  [7000, 2, 10],
  [5000, 1, 5],
  [200, 2, 0],
])(
  "the quota at %i/s in windows of %i s: %i points, each a whole number of milliseconds",
  (rate, window_s, quota) => {
    expect(binding.quotaAt(rate, window_s)).toBe(quota);
  },
);

describe("what it cannot do is refused with what would help [R-boundary-2]", () => {
  test.each([
    ["a closed loop", { model: "closed" as const, connections: 10 }, 10, 2, "add --rate"],
    ["too few points", open(1000), 30, 2, "give --rate 2500 or more, or --window 5"],
    ["too few windows", open(5000), 5, 2, "give --duration-mode custom:6 or more, or a shorter --window"],
    ["more than is kept", open(100_000), 60, 2, `${MOST_REQUESTS} at most`],
  ])("%s", (_, load, duration_s, window_s, text) => {
    expect(binding.problemWith(load, { duration_s }, window_s, "auto")).toContain(text);
  });

  test("three windows at the lowest rate are enough, also as a number of requests", () => {
    expect(binding.problemWith(open(2500), { duration_s: 6 }, 2, 0)).toBeUndefined();
    expect(binding.problemWith(open(2500), { requests: 15_000 }, 2, 0)).toBeUndefined();
    expect(binding.problemWith(open(2500), { requests: 14_000 }, 2, 0)).toContain("5.6 s are less than");
  });
});

test("keys are offered 3 times and half of their quota, and those below it never exceed it in any window", () => {
  const [rate, window_s, quota] = [5000, 2, 10];
  const range = { connections: 1, first: 0, count: 1 };
  const limits = { points: quota, window_s, block_s: 0 };
  const [stream] = openTraffic(boundary, 7, range, limits).streams;
  const windows = 6;
  const times: number[][] = boundary.population().requests.map(() => []);
  for (let n = 0; n < rate * window_s * windows; n++) times[stream?.next() ?? 0]?.push(n / rate);
  for (const [key, sends] of times.entries()) {
    const offered = sends.length / windows / quota;
    expect(offered).toBeCloseTo(key < KEYS_ABOVE ? 3 : 0.5, 1);
    if (key < KEYS_ABOVE) continue;
    const inAnyWindow = sends.map((from) => sends.filter((at) => at >= from && at < from + window_s).length);
    expect(Math.max(...inAnyWindow)).toBeLessThanOrEqual(quota);
  }
  // A key above its quota begins with two quotas at once, so that concurrent requests meet the same count.
  const [first = []] = times;
  const atOnce = first.map((from) => first.filter((at) => at >= from && at < from + 0.01).length);
  expect(Math.max(...atOnce)).toBeGreaterThanOrEqual(2 * quota);
});
