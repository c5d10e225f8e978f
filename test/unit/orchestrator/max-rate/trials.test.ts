import { describe, expect, test } from "vitest";
import {
  expectedTrials,
  nextTrials,
  type SearchSettings,
  type Trial,
} from "../../../../src/orchestrator/max-rate/trials.js";
import { seededRandom } from "../../../helpers/random.js";

const settings: SearchSettings = { from: 100, min: 1, max: 100_000, trials_per_rate: 5 };

type Attempt = (rate: number, bracket: boolean, made: number) => Trial["status"];

/** Makes all trials of a search. */
function search(attempt: Attempt, from = settings, trials: Trial[] = []): Trial[] {
  for (let next = nextTrials(from, trials); "rates" in next; next = nextTrials(from, trials)) {
    const bracket = next.phase === "bracket";
    for (const rate_per_second of next.rates)
      trials.push({
        rate_per_second,
        bracket,
        status: attempt(rate_per_second, bracket, trials.length),
      });
    if (trials.length > 500) throw new Error("the search does not end");
  }
  return trials;
}

const upTo =
  (capacity: number): Attempt =>
  (rate) =>
    rate <= capacity ? "kept" : "missed";

/** Outcomes of the trials near the bound, by rate. */
function nearRates(trials: readonly Trial[]): Map<number, Trial["status"][]> {
  const found = new Map<number, Trial["status"][]>();
  for (const { rate_per_second, bracket, status } of trials)
    if (!bracket) found.set(rate_per_second, [...(found.get(rate_per_second) ?? []), status]);
  return new Map([...found].sort(([a], [b]) => a - b));
}

test.each([1.5, 17, 100, 101, 999, 1000, 1001, 4321, 90_000])(
  "a target of known capacity of %d/s is bracketed by single trials, then tried five times at five rates about it",
  (capacity) => {
    const trials = search(upTo(capacity));
    const bracket = trials.filter((trial) => trial.bracket);
    expect(bracket.length).toBeLessThan(30);
    expect(trials.slice(0, bracket.length)).toEqual(bracket);
    const near = nearRates(trials);
    expect([...near.values()].map(({ length }) => length)).toEqual([5, 5, 5, 5, 5]);
    const rates = [...near.keys()];
    expect(rates[0]).toBeLessThanOrEqual(capacity);
    expect(rates.at(-1)).toBeGreaterThan(capacity);
    for (const rate of rates) expect(Math.abs(Math.log(rate / capacity))).toBeLessThan(0.12);
  },
);

test("one bad moment on the way up does not decide", () => {
  const trials = search((rate, _bracket, made) => (made === 2 || rate > 4000 ? "missed" : "kept"));
  expect(Math.max(...nearRates(trials).keys())).toBeGreaterThan(4000);
});

describe("a wrong bracket", () => {
  test.each([
    ["too high", 700],
    ["too low", 1500],
  ])(
    "that is %s: rates are added until they enclose the bound, and then between",
    (_what, capacity) => {
      // The host is another one while the bound is bracketed.
      const near = nearRates(
        search((rate, bracket) => (rate <= (bracket ? 1000 : capacity) ? "kept" : "missed")),
      );
      const rates = [...near.keys()];
      const kept = rates.filter((rate) => rate <= capacity);
      const [low = 0, high = 0] = [kept.at(-1), rates[kept.length]];
      expect(low).toBeGreaterThan(0);
      expect(high).toBeGreaterThan(capacity);
      expect(high / low).toBeLessThan(1.07);
      for (const outcomes of near.values()) expect(outcomes).toHaveLength(5);
    },
  );

  test("is not concluded from one stray trial: it adds one rate", () => {
    let misses = 0;
    const trials = search((rate, bracket) => {
      if (!bracket && rate < 950 && misses++ === 0) return "missed";
      return rate <= 1000 ? "kept" : "missed";
    });
    expect(nearRates(trials).size).toBe(6);
  });
});

test("a trial without a measurement is made again, and the third at one rate ends the search for the target", () => {
  const once = search((rate, _bracket, made) =>
    made % 7 === 3 ? "void" : upTo(1000)(rate, false, made),
  );
  for (const outcomes of nearRates(once).values())
    expect(outcomes.filter((status) => status !== "void")).toHaveLength(5);
  const never = search((rate) => (rate > 1000 ? "void" : "kept"));
  expect(never.filter(({ status }) => status === "void")).toHaveLength(3);
  const lost = never.at(-1)?.rate_per_second;
  expect(nextTrials(settings, never)).toEqual({ phase: "given up", rate_per_second: lost });
});

test("where the whole range is kept, or none of it, nothing is tried near a bound", () => {
  const all = search(upTo(1e9));
  expect(all.at(-1)).toMatchObject({ rate_per_second: 100_000, status: "kept" });
  const none = search(upTo(0));
  expect(none.at(-1)).toMatchObject({ rate_per_second: 1, status: "missed" });
  for (const trials of [all, none]) expect(trials.every(({ bracket }) => bracket)).toBe(true);
});

test("every search ends, whatever its trials show, and the estimate of its trials is right where it guesses right", () => {
  const chance = seededRandom(1);
  for (let number = 0; number < 200; number++) {
    const level = 10 ** (5 * chance());
    const trials = search((rate) => (chance() < level / (level + rate) ? "kept" : "missed"));
    expect(trials.length).toBeLessThan(250);
  }
  expect(expectedTrials(settings, [])).toBe(search(upTo(500)).length);
  expect(expectedTrials(settings, search(upTo(500)))).toBe(0);
});
