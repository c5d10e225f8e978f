import { describe, expect, test } from "vitest";
import type { Slices } from "../../../src/contract/request-outcomes.js";
import {
  areApart,
  halvesOf,
  hasTrend,
  levelChangesOf,
  rampIn,
  warmupNotes,
} from "../../../src/judge/steadiness.js";
import { seededRandom } from "../../helpers/random.js";

const CYCLES = 30;

/** How fast the host is in each slice of a round, as a share; what is drawn is standard normal. */
const hosts: Readonly<Record<string, (slices: number, random: () => number) => number[]>> = {
  calm: (slices) => Array(slices).fill(1),
  drifting: (slices) => Array.from({ length: slices }, (_, slice) => 1 - (0.4 * slice) / slices),
  "level-shift": (slices) =>
    Array.from({ length: slices }, (_, slice) => (slice < slices / 2 ? 1 : 0.6)),
  bursty: (slices, random) => Array.from({ length: slices }, () => (random() > 1.3 ? 0.5 : 1)),
  "AR(1)": (slices, random) => {
    let level = 0;
    return Array.from({ length: slices }, () => {
      level = 0.8 * level + 0.06 * random();
      return Math.exp(level);
    });
  },
};

/** Answers of targets by turn. @param changes of each, over the round, as a share */
function group(
  host: keyof typeof hosts,
  changes: readonly number[],
  seed: number,
  cycles = CYCLES,
): number[][] {
  const uniform = seededRandom(seed);
  const random = () => Math.sqrt(3) * (uniform() + uniform() + uniform() + uniform() - 2);
  const speeds = hosts[host]?.(changes.length * cycles, random) ?? [];
  return changes.map((slope, target) =>
    Array.from({ length: cycles }, (_, cycle) => {
      const speedOfTarget = (1 + (slope * cycle) / cycles) * (1 + 0.03 * random());
      return Math.round(1000 * (speeds[changes.length * cycle + target] ?? 1) * speedOfTarget);
    }),
  );
}

const isApart = (answers: readonly (readonly number[])[]) =>
  halvesOf(answers).map((halves) => halves !== undefined && areApart(halves));

const sizes = Object.keys(hosts).flatMap((host) => {
  const three = { host, targets: 3, cycles: CYCLES };
  const five = { host, targets: 5, cycles: 5 };
  // A burst of this host lasts a whole turn, which is a change of the window among five targets.
  return host === "bursty" ? [three] : [three, five];
});

test.each(sizes)(
  "on a $host host at most 2 % of $targets equal targets in $cycles cycles count as unsteady",
  ({ host, targets, cycles }) => {
    const changes = Array<number>(targets).fill(0);
    const unsteady = Array.from({ length: 400 }, (_, seed) =>
      isApart(group(host, changes, seed + 1, cycles)),
    ).flat();
    // Within three standard errors.
    const mostFlagged = 0.02 + 3 * Math.sqrt((0.02 * 0.98) / unsteady.length);
    expect(unsteady.filter(Boolean).length / unsteady.length).toBeLessThanOrEqual(mostFlagged);
  },
);

test.each([
  ["a ramp up", 0.6],
  ["a decay", -0.4],
])("%s of one target is, and of no other", (_, change) => {
  const unsteady = isApart(group("level-shift", [change, 0, 0], 7));
  expect(unsteady).toEqual([true, expect.any(Boolean), expect.any(Boolean)]);
});

/** Cycles of four targets, of which only the first one's speed changes. */
const amongSteady = (speeds: readonly number[]): number[][] => {
  const random = seededRandom(21);
  const noisy = (speed: number) => Math.round(speed * (1 + 0.1 * (random() - 0.5)));
  return [speeds, ...[5_500, 5_700, 5_900].map((speed) => speeds.map(() => speed))].map((row) =>
    row.map(noisy),
  );
};

test.each([
  ["five cycles that collapse at the end", [2753, 3387, 3317, 1936, 903]],
  ["five cycles that collapse early", [4119, 1870, 996, 1153, 1036]],
  ["a ramp up", [1000, 1500, 2500, 3000, 3200]],
  ["a ramp down", [3200, 3000, 2500, 1500, 1000]],
  [
    "twenty cycles of which the last four are at a third",
    [...Array(16).fill(3_000), ...Array(4).fill(1_000)],
  ],
])("%s of one target are not steady, and the others are", (_, speeds) => {
  expect(isApart(amongSteady(speeds))).toEqual([true, false, false, false]);
});

test("few cycles of steady targets are steady", () => {
  expect(isApart(amongSteady(Array(5).fill(3_000)))).toEqual([false, false, false, false]);
});

test("halves are not compared where cycles and targets are too few to know the error", () => {
  expect(halvesOf(Array(2).fill([1, 2, 3, 4, 5]))).toEqual([undefined, undefined]);
  expect(halvesOf([Array(7).fill(9)])).toEqual([undefined]);
});

describe("a change of level inside the window", () => {
  const levels = (...parts: [cycles: number, speed: number][]) =>
    parts.flatMap(([cycles, speed]) => Array<number>(cycles).fill(speed));

  test.each([
    ["down half-way", levels([15, 4_000], [15, 3_000]), 15, 0.75],
    ["up half-way", levels([15, 4_000], [15, 5_000]), 15, 1.25],
    ["down in the last three cycles", levels([27, 4_000], [3, 3_000]), 27, 0.75],
    ["in a window of eight cycles", levels([4, 4_000], [4, 3_000]), 4, 0.75],
  ])("of a quarter %s is found in its target alone, and where it is", (_, speeds, cycle, ratio) => {
    const [change, ...others] = levelChangesOf(amongSteady(speeds));
    expect(change?.cycles_before).toBe(cycle);
    expect(change?.ratio).toBeCloseTo(ratio, 1);
    expect(others).toEqual([undefined, undefined, undefined]);
  });

  test("is no short stall, no small step, and none that the host gives to all targets", () => {
    expect(levelChangesOf(amongSteady(levels([14, 4_000], [2, 400], [14, 4_000])))[0]).toBe(
      undefined,
    );
    expect(levelChangesOf(amongSteady(levels([15, 4_000], [15, 3_500])))[0]).toBeUndefined();
    const equal = group("level-shift", [0, 0, 0], 5);
    expect(levelChangesOf(equal)).toEqual([undefined, undefined, undefined]);
  });

  test.each([...sizes, { host: "calm", targets: 5, cycles: 8 }])(
    "is seen in at most 2 % of $targets equal targets in $cycles cycles on a $host host",
    ({ host, targets, cycles }) => {
      const changes = Array<number>(targets).fill(0);
      const seen = Array.from({ length: 200 }, (_, seed) =>
        levelChangesOf(group(host, changes, seed + 1, cycles)),
      ).flat();
      expect(seen.filter(Boolean).length / seen.length).toBeLessThanOrEqual(0.02);
    },
  );
});

/** Normal deviates with this correlation of neighbours: AR(1), of variance 1. */
function noise(random: () => number, count: number, correlation: number): number[] {
  const deviate = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let value = deviate();
  return Array.from({ length: count }, () => {
    value = correlation * value + Math.sqrt(1 - correlation ** 2) * deviate();
    return value;
  });
}

const slicesOf = (answers: readonly number[], latencyUs = 1_000): Slices => ({
  width_ms: 100,
  allowed: answers.map(Math.round),
  limited: answers.map(() => 0),
  failed: answers.map(() => 0),
  latency_sum_us: answers.map((count) => Math.round(count) * latencyUs),
});

/** Slices with a mean of 1000 at full speed. @param speed at a moment of the window, in seconds */
function noisySlices(
  random: () => number,
  seconds: number,
  { cv, correlation }: { cv: number; correlation: number },
  speed: (t: number) => number = () => 1,
): Slices {
  const deviations = noise(random, 10 * seconds, correlation);
  return slicesOf(
    deviations.map((value, index) =>
      Math.max(0, 1_000 * speed((index + 0.5) / 10) * (1 + cv * value)),
    ),
  );
}

const share = (count: number, holds: (trial: number) => boolean): number =>
  Array.from({ length: count }, (_, trial) => trial).filter(holds).length / count;

const NOISES = [0.05, 0.1, 0.15].flatMap((cv) =>
  [0.3, 0.45, 0.6].map((correlation) => ({ cv, correlation })),
);
/** From half to full speed over so many seconds. */
const rampOver = (seconds: number) => (t: number) => Math.min(1, 0.5 + (0.5 * t) / seconds);

describe("a trend", () => {
  test.each<[string, number[], boolean]>([
    ["rising values", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], true],
    ["falling values", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1], true],
    ["constant values", [5, 5, 5, 5, 5, 5, 5, 5, 5, 5], false],
    ["values that go up and down", [5, 9, 4, 8, 5, 9, 4, 8, 5, 9], false],
    ["too few values", [1, 2, 3], false],
    // The exact two-sided 5 % point of ten values is a score of 23.
    ["a score of 23 of ten", [10, 1, 2, 3, 4, 5, 6, 9, 7, 8], true],
    ["a score of 21 of ten", [10, 1, 2, 3, 4, 5, 9, 6, 7, 8], false],
  ])("%s", (_what, values, expected) => {
    expect(hasTrend(values)).toBe(expected);
  });

  test("is flaggedShare in 5 % of independent values without one", () => {
    const random = seededRandom(7);
    const flaggedShare = share(4_000, () => hasTrend(noise(random, 10, 0)));
    expect(flaggedShare).toBeGreaterThan(0.03);
    expect(flaggedShare).toBeLessThan(0.06);
  });
});

describe("a ramp in the window", () => {
  test.each(NOISES)(
    "is rarely seen in a steady one, with noise of $cv and correlation $correlation",
    (noisy) => {
      const random = seededRandom(11);
      for (const seconds of [3, 5, 10, 30]) {
        const flagged = share(
          400,
          () => rampIn(noisySlices(random, seconds, noisy), "closed") !== undefined,
        );
        // At most 1.6 % in the worst case, and the error of 400 trials.
        expect(flagged, `${seconds} s`).toBeLessThan(0.035);
      }
    },
  );

  test("is seen in less than 1 % of steady windows over all kinds of noise", () => {
    const random = seededRandom(12);
    const flagged = NOISES.map((noisy) =>
      share(
        500,
        (trial) =>
          rampIn(noisySlices(random, [3, 5, 10, 30][trial % 4] ?? 5, noisy), "closed") !==
          undefined,
      ),
    );
    expect(flagged.reduce((total, share) => total + share, 0) / flagged.length).toBeLessThan(0.01);
  });

  test("is seen from half to full speed over 3 s in a window of 5 s", () => {
    const random = seededRandom(13);
    const flaggedShare = (noisy: (typeof NOISES)[number]) =>
      share(300, () => rampIn(noisySlices(random, 5, noisy, rampOver(3)), "closed") !== undefined);
    expect(
      rampIn(noisySlices(random, 5, { cv: 0, correlation: 0 }, rampOver(3)), "closed"),
    ).toBeDefined();
    expect(flaggedShare({ cv: 0.05, correlation: 0.45 })).toBe(1);
    expect(flaggedShare({ cv: 0.1, correlation: 0.45 })).toBeGreaterThan(0.95);
    expect(flaggedShare({ cv: 0.15, correlation: 0.6 })).toBeGreaterThan(0.7);
  });

  test("is seen in the shortest tested window, and in the first second of a long one", () => {
    const random = seededRandom(14);
    const calm = { cv: 0.05, correlation: 0.45 };
    expect(rampIn(noisySlices(random, 3, calm, rampOver(3)), "closed")).toBeDefined();
    expect(rampIn(noisySlices(random, 30, calm, rampOver(1)), "closed")).toBeDefined();
    expect(rampIn(noisySlices(random, 2, calm, rampOver(2)), "closed")).toBeUndefined();
  });

  test("is not a constant server, a stall, or a difference of less than a tenth; one that slows down is, too", () => {
    const still = { cv: 0, correlation: 0 };
    const seen = (speed: (t: number) => number) =>
      rampIn(noisySlices(seededRandom(1), 5, still, speed), "closed");
    expect(seen(() => 1)).toBeUndefined();
    expect(seen((t) => 1 - t / 20)).toBeDefined();
    expect(seen((t) => (t > 0.3 && t < 0.7 ? 0 : 1))).toBeUndefined();
    expect(seen((t) => (t < 1 ? 0.92 : 1))).toBeUndefined();
    expect(seen((t) => (t < 1 ? 0.88 : 1))).toEqual({ first_second: 8_800, second_half: 10_000 });
    const decay = [4119, 1870, 996, 1153, 1036];
    expect(seen((t) => (decay[Math.floor(t)] ?? 0) / 10_000)).toMatchObject({
      second_half: expect.any(Number),
    });
  });

  test("is not the short slice at the end", () => {
    const answers = [...Array.from({ length: 50 }, () => 1_000), 3];
    expect(rampIn(slicesOf(answers), "closed")).toBeUndefined();
  });

  test("is one of mean latency in an open loop, whose rate the schedule gives", () => {
    const slices = slicesOf(Array.from({ length: 50 }, () => 100));
    slices.latency_sum_us.fill(100 * 3_000, 0, 10);
    expect(rampIn(slices, "open")).toEqual({ first_second: 3, second_half: 1 });
    expect(rampIn(slices, "closed")).toBeUndefined();
    // Medians: a rise in the last second is not seen.
    slices.latency_sum_us.reverse();
    expect(rampIn(slices, "open")).toBeUndefined();
  });
});

test("an automatic warm-up that ended unsteady is noted, and whether it had requests enough to tell", () => {
  const warmup = { took_s: 10.0042, requests: 5_000, lead_in: { took_s: 0.5, requests: 200 } };
  expect(warmupNotes({ warmup })).toEqual([]);
  expect(warmupNotes({ warmup: { ...warmup, steady: true } })).toEqual([]);
  expect(warmupNotes({ warmup: { ...warmup, steady: false } })).toEqual([
    expect.stringContaining("10 s"),
  ]);
  const few = warmupNotes({ warmup: { ...warmup, requests: 100, steady: false } });
  expect(few).toEqual([expect.stringContaining("100 requests")]);
});
