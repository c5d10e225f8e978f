import { expect, test } from "vitest";
import { areApart, halvesOf } from "../../../src/judge/steadiness.js";
import { seededRandom } from "../../helpers/random.js";

const CYCLES = 30;

/** Rates of targets on a host that changes for all of them. @param change of the first, over the round, as a share */
function group(change: number, seed: number): number[][] {
  const uniform = seededRandom(seed);
  const random = () => uniform() + uniform() + uniform() + uniform() - 2;
  const host = Array.from({ length: CYCLES }, (_, cycle) => (cycle < CYCLES / 2 ? 1 : 0.6));
  return [change, 0, 0].map((slope) =>
    host.map((speed, cycle) =>
      Math.round(1000 * speed * (1 + (slope * cycle) / CYCLES) * (1 + 0.05 * random())),
    ),
  );
}

test("what the host does to all targets of a group is not unsteady", () => {
  for (let seed = 1; seed <= 50; seed++)
    for (const halves of halvesOf(group(0, seed))) expect(halves && areApart(halves)).toBe(false);
});

test.each([
  ["a ramp up", 0.6],
  ["a decay", -0.4],
])("%s of one target is, and of no other", (_, change) => {
  const found = halvesOf(group(change, 7)).map((halves) => halves && areApart(halves));
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
