import { expect, test } from "vitest";
import { areApart, halvesOf } from "../../../src/judge/steadiness.js";
import { seededRandom } from "../../helpers/random.js";

const CYCLES = 30;

/** How fast the host is in each slice of a round of three targets, as a share; what is drawn is standard normal. */
const hosts: Readonly<Record<string, (slices: number, random: () => number) => number[]>> = {
  calm: (slices) => Array(slices).fill(1),
  drifting: (slices) => Array.from({ length: slices }, (_, slice) => 1 - (0.4 * slice) / slices),
  "level-shift": (slices) => Array.from({ length: slices }, (_, slice) => (slice < slices / 2 ? 1 : 0.6)),
  bursty: (slices, random) => Array.from({ length: slices }, () => (random() > 1.3 ? 0.5 : 1)),
  "AR(1)": (slices, random) => {
    let level = 0;
    return Array.from({ length: slices }, () => {
      level = 0.8 * level + 0.06 * random();
      return Math.exp(level);
    });
  },
};

/** Answers of three targets by turn. @param change of the first, over the round, as a share */
function group(host: keyof typeof hosts, change: number, seed: number): number[][] {
  const uniform = seededRandom(seed);
  const random = () => Math.sqrt(3) * (uniform() + uniform() + uniform() + uniform() - 2);
  const speeds = hosts[host]?.(3 * CYCLES, random) ?? [];
  return [change, 0, 0].map((slope, target) =>
    Array.from({ length: CYCLES }, (_, cycle) => {
      const own = (1 + (slope * cycle) / CYCLES) * (1 + 0.03 * random());
      return Math.round(1000 * (speeds[3 * cycle + target] ?? 1) * own);
    }),
  );
}

const isApart = (answers: readonly (readonly number[])[]) =>
  halvesOf(answers).map((halves) => halves !== undefined && areApart(halves));

test.each(Object.keys(hosts))("on a %s host at most 2 %% of equal targets count as unsteady", (host) => {
  const found = Array.from({ length: 400 }, (_, seed) => isApart(group(host, 0, seed + 1))).flat();
  // Within three standard errors.
  const most = 0.02 + 3 * Math.sqrt((0.02 * 0.98) / found.length);
  expect(found.filter(Boolean).length / found.length).toBeLessThanOrEqual(most);
});

test.each([
  ["a ramp up", 0.6],
  ["a decay", -0.4],
])("%s of one target is, and of no other", (_, change) => {
  const found = isApart(group("level-shift", change, 7));
  expect(found).toEqual([true, expect.any(Boolean), expect.any(Boolean)]);
});

test("fewer than eight cycles have no halves", () => {
  expect(
    halvesOf([
      [1, 2, 3],
      [1, 2, 3],
    ]),
  ).toEqual([undefined, undefined]);
});
