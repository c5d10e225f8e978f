import { expect, test } from "vitest";
import { asRequestLimiter } from "../../../src/targets/request-limiter.js";
import type { Decision, Limiter } from "../../../src/targets/types.js";
import { ALLOWED, FAILED, limited } from "../../helpers/app.js";

/** Answers what the test says, and notes what it was asked. */
function asked(answer: (key: string) => Decision) {
  const calls: [string, number | undefined][] = [];
  const limiter: Limiter = {
    consume: async (key, cost) => {
      calls.push([key, cost]);
      return answer(key);
    },
  };
  return { calls, limiter };
}

test("one key is one call with its cost, counted by outcome", async () => {
  const standard = asked((key) => (key === "a" ? ALLOWED : limited(5)));
  const exhausted = asked(() => limited(9));
  const limiter = asRequestLimiter({ standard: standard.limiter, exhausted: exhausted.limiter });
  expect(await limiter.consume("a", 3)).toEqual(ALLOWED);
  expect(await limiter.consume("b")).toEqual(limited(5));
  expect(await limiter.consume("exhausted-7")).toEqual(limited(9));
  expect(standard.calls).toEqual([
    ["a", 3],
    ["b", undefined],
  ]);
  expect(exhausted.calls).toEqual([["exhausted-7", undefined]]);
  expect({ ...limiter.consumes }).toEqual({ calls: 3, allowed: 1, limited: 2, failed: 0 });
});

test("several keys are a call each; the most restrictive decision counts, and a failure outweighs a denial", async () => {
  const decisions: Record<string, Decision> = { a: ALLOWED, b: limited(5), c: limited(9), d: FAILED };
  const { limiter: pair } = asked((key) => decisions[key] ?? ALLOWED);
  const limiter = asRequestLimiter({ standard: pair, exhausted: pair });
  expect(await limiter.consume(["a", "x"])).toEqual(ALLOWED);
  expect(await limiter.consume(["a", "b", "c"])).toEqual(limited(9));
  expect(await limiter.consume(["c", "d"])).toEqual(FAILED);
  expect({ ...limiter.consumes }).toEqual({ calls: 7, allowed: 3, limited: 3, failed: 1 });
});

test("a limiter of a plugin made for one key per call, without cost, keeps its methods and its object", async () => {
  class Own {
    readonly #seen: string[] = [];
    async consume(key: string): Promise<Decision> {
      this.#seen.push(key);
      return this.#seen.length > 1 ? limited(1) : ALLOWED;
    }
  }
  const limiter = asRequestLimiter({ standard: new Own(), exhausted: new Own() });
  expect((await limiter.consume("a")).outcome).toBe("allowed");
  expect((await limiter.consume("a")).outcome).toBe("limited");
});
