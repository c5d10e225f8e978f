import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { forEachAtOnce } from "../../../src/kit/at-once.js";

test("every item is worked on once, in order, and never more than so many at once", async () => {
  const begun: number[] = [];
  let underWay = 0;
  let most = 0;
  await forEachAtOnce([1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    underWay++;
    most = Math.max(most, underWay);
    await setImmediate();
    underWay--;
  });
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});

test("after a failure nothing is begun, and what is under way ends before it is thrown", async () => {
  const ended: number[] = [];
  const working = forEachAtOnce([1, 2, 3, 4], 2, async (item) => {
    if (item === 1) throw new Error("the first failed");
    await setImmediate();
    ended.push(item);
  });
  await expect(working).rejects.toThrow("the first failed");
  expect(ended).toEqual([2]);
});
