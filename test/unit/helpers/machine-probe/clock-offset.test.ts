import { describe, expect, test } from "vitest";
import { clockOffsetOf, type Exchange } from "../../../../src/helpers/machine-probe/clock-offset.js";
import { combinedOffset } from "../../../../src/orchestrator/run/machine-probes.js";
import { seededRandom } from "../../../helpers/random.js";

/** An exchange with delays in milliseconds, by a clock that is so much ahead of the own one. */
function exchange(ahead_ms: number, there_ms: number, back_ms: number, works_ms = 0.01): Exchange {
  const sent_ms = 1_000_000;
  const received_ms = sent_ms + there_ms + ahead_ms;
  const replied_ms = received_ms + works_ms;
  return { sent_ms, received_ms, replied_ms, answered_ms: replied_ms - ahead_ms + back_ms };
}

const holds = ({ offset_us, bound_us }: { offset_us: number; bound_us: number }, truth_ms: number) =>
  Math.abs(offset_us - 1000 * truth_ms) <= bound_us;

describe("the offset of another clock", () => {
  test("is exact where both ways take equally long", () => {
    expect(clockOffsetOf([exchange(-250, 0.05, 0.05)])).toEqual({ offset_us: -250_000, bound_us: 51.6 });
  });

  test("comes from the shortest round trip, whatever else was measured", () => {
    const found = clockOffsetOf([exchange(3, 9, 0.1), exchange(3, 0.02, 0.02), exchange(3, 0.1, 5)]);
    expect(found).toEqual({ offset_us: 3000, bound_us: 21.6 });
  });

  test("does not take the other one's work for a way", () => {
    expect(clockOffsetOf([exchange(1, 0.02, 0.02, 400)]).bound_us).toBe(21.6);
  });

  test.each([
    [20, 0],
    [0, 20],
    [0.01, 12],
  ])("lies within the bound where the ways take %f ms and %f ms", (there_ms, back_ms) => {
    const found = clockOffsetOf([exchange(5, there_ms, back_ms)]);
    expect(Math.abs(found.offset_us - 5000)).toBeGreaterThan(5000);
    expect(holds(found, 5)).toBe(true);
  });

  test("lies within the bound of both ends together, for any delays", () => {
    const random = seededRandom(7);
    for (let trial = 0; trial < 2000; trial++) {
      const truth_ms = 1000 * (random() - 0.5);
      const delays = () => Array.from({ length: 5 }, () => [random() ** 4, random() ** 4] as const);
      const one = clockOffsetOf(delays().map(([there, back]) => exchange(truth_ms, there, back)));
      const other = clockOffsetOf(delays().map(([there, back]) => exchange(-truth_ms, there, back)));
      const both = combinedOffset(one, { ...other, offset_us: -other.offset_us });
      expect(holds(one, truth_ms) && holds(both, truth_ms)).toBe(true);
      expect(both.bound_us).toBeLessThanOrEqual(Math.min(one.bound_us, other.bound_us) + 0.2);
    }
  });

  test("of two measurements that contradict each other covers both", () => {
    const both = combinedOffset({ offset_us: 0, bound_us: 10 }, { offset_us: 1000, bound_us: 30 });
    expect(both).toEqual({ offset_us: 510, bound_us: 520.1 });
  });
});
