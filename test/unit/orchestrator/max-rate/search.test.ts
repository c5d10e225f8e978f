import { describe, expect, test } from "vitest";
import { type Attempt, findMaxRate, type SearchRange } from "../../../../src/orchestrator/max-rate/search.js";

const range: SearchRange = { from: 100, min: 1, max: 100_000, resolution: 0.02 };

/** A server that keeps what is asked up to a rate. */
const serverOf = (capacity: number): Attempt => {
  return async (rate) => ({ isMet: rate <= capacity, reason: rate <= capacity ? "" : "p99<10ms: 43" });
};

describe("a server of known capacity", () => {
  test.each([1.5, 17, 100, 101, 999, 1000, 1001, 4321, 99_000])(
    "of %d/s is found within the resolution",
    async (capacity) => {
      const found = await findMaxRate(range, serverOf(capacity));
      const { confirmed_per_second: low = Number.NaN, missed_per_second: high = Number.NaN } = found;
      expect(low).toBeLessThanOrEqual(capacity);
      expect(high).toBeGreaterThan(capacity);
      expect(high / low).toBeLessThanOrEqual(1.021);
      expect(found.trials.length).toBeLessThan(60);
    },
  );

  test("every accepted rate was confirmed, and the missed one was missed twice in a row", async () => {
    const { trials, ...found } = await findMaxRate(range, serverOf(1000));
    expect(trials.filter(({ rate_per_second }) => rate_per_second === found.confirmed_per_second)).toEqual([
      { rate_per_second: found.confirmed_per_second, kind: "probe", isMet: true, reason: "" },
      { rate_per_second: found.confirmed_per_second, kind: "confirmation", isMet: true, reason: "" },
    ]);
    const misses = trials.filter(({ rate_per_second }) => rate_per_second === found.missed_per_second);
    expect(misses.map(({ isMet, reason }) => [isMet, reason])).toEqual([
      [false, "p99<10ms: 43"],
      [false, "p99<10ms: 43"],
    ]);
  });
});

test("a server that is fast only for a moment fails the confirmation: the rate that it can keep is found", async () => {
  const found = await findMaxRate(range, async (rate, kind) => {
    const isMet = rate <= (kind === "probe" ? 1500 : 1000);
    return { isMet, reason: isMet ? "" : "late" };
  });
  expect(found.confirmed_per_second).toBeGreaterThan(975);
  expect(found.confirmed_per_second).toBeLessThanOrEqual(1000);
});

test("one bad moment does not decide", async () => {
  let calls = 0;
  // Every third try fails, whatever the rate.
  const found = await findMaxRate(range, async (rate) => {
    const isMet = rate <= 1000 && ++calls % 3 !== 0;
    return { isMet, reason: "" };
  });
  expect(found.confirmed_per_second).toBeGreaterThan(975);
});

test("where the whole range is met there is no missed rate, and where none of it is there is no confirmed one", async () => {
  const all = await findMaxRate(range, serverOf(1e9));
  expect(all).toMatchObject({ confirmed_per_second: 100_000 });
  expect(all).not.toHaveProperty("missed_per_second");
  const none = await findMaxRate(range, serverOf(0));
  expect(none).toMatchObject({ missed_per_second: 1 });
  expect(none).not.toHaveProperty("confirmed_per_second");
});

test("an error in a trial ends the search", async () => {
  await expect(findMaxRate(range, () => Promise.reject(new Error("no server")))).rejects.toThrow("no server");
});
