import { afterEach, expect, test } from "vitest";
import { shiftClock } from "../../../src/server/lib/clock-shift.js";

const real = Date;
afterEach(() => {
  globalThis.Date = real;
});

test("a shifted clock is ahead wherever the time is read, and given times stay as they are", () => {
  shiftClock(30_000);
  const made = new Date();
  const ahead = [Date.now(), made.getTime()].map((each) => Math.round((each - real.now()) / 1000));
  expect(ahead).toEqual([30, 30]);
  expect(new Date(5).getTime()).toBe(5);
  expect(made).toBeInstanceOf(Date);
  expect(Date.UTC(1970, 0, 1)).toBe(0);
});
