import { describe, expect, test } from "vitest";
import type { SentRequest } from "../../../../src/contract/sender.js";
import { Answers } from "../../../../src/orchestrator/audit/audited-system.js";
import { clocksOutcome } from "../../../../src/orchestrator/audit/checks/clocks-apart.js";
import { admittedAgain } from "../../../../src/orchestrator/audit/checks/eviction.js";
import {
  namedWaits,
  untrueHeaders,
  wrongQuota,
} from "../../../../src/orchestrator/audit/checks/headers.js";
import { prefixOutcome } from "../../../../src/orchestrator/audit/checks/ipv6-prefix.js";

const T = 1_700_000_000_000;
const steady = (seen: number) => ({ seen, least: 96, most: 104, requests: 226, seconds: 9 });

test.each([
  [96, "holds"],
  [104, "holds"],
  [105, "broken"],
  [95, "broken"],
])("with clocks apart %i admissions of 96 to 104: %s", (seen, status) => {
  expect(clocksOutcome(steady(seen), steady(100))).toMatchObject({
    status,
    admissions: { seen, least: 96, most: 104 },
  });
});

test("a limiter that is wrong with one clock, too, is told apart from one that clocks break", () => {
  const seen = (alone: number) => clocksOutcome(steady(20), steady(alone)).seen;
  expect([seen(30), seen(100)].map((text) => text?.includes("one clock"))).toEqual([true, false]);
});

/** Requests on two keys at once, of which so many are admitted. */
const answers = (at: number, admitted: number): Answers =>
  new Answers(
    [0, 1].flatMap((group) =>
      Array.from(
        { length: 40 },
        (_, n): SentRequest => ({
          group,
          server: 0,
          sent_ms: T + at,
          answered_ms: T + at + 20,
          status: n < admitted ? 200 : 429,
        }),
      ),
    ),
  );

test("a used-up key is admitted again for what its algorithm gives back meanwhile, and no more", () => {
  const limits = { points: 20, window_s: 60, block_s: 0 };
  const both = [answers(0, 20), answers(7500, 20)] as const;
  expect(admittedAgain("fixed window", limits, both, 2)).toEqual({ seen: 40, least: 0, most: 0 });
  // A point comes back every 3 s, and one more may count for either burst.
  expect(admittedAgain("GCRA", limits, both, 2)).toEqual({ seen: 40, least: 2, most: 6 });
  expect(admittedAgain("fixed window", { ...limits, window_s: 5 }, both, 2).most).toBe(40);
});

test.each([
  { in64: 20, in56: 20, neighbours: [20, 20], seen: "/56", status: "holds" },
  { in64: 20, in56: 40, neighbours: [20, 20], seen: "/64", status: "holds" },
  { in64: 40, in56: 40, neighbours: [20, 20], seen: "not at all", status: "broken" },
  { in64: 20, in56: 20, neighbours: [20, 0], seen: "wider than /56", status: "broken" },
])("clients by prefix: $seen", ({ in64, in56, neighbours, seen, status }) => {
  const burst = (admitted: number) => ({ seen: admitted, least: 20, most: 20 });
  const outcome = prefixOutcome({ in64: burst(in64), in56: burst(in56) }, neighbours.map(burst));
  expect(outcome).toMatchObject({ seen, status });
});

const AT = 1_700_000_000_000;
const request = (at: number, status: number, headers?: Record<string, string>): SentRequest => ({
  group: 0,
  server: 0,
  sent_ms: AT + at,
  answered_ms: AT + at + 2,
  status,
  ...(headers ? { headers } : {}),
});

/** Asked every 50 ms; admitted from that moment on. */
const later = (back: number, until = 4000) =>
  Array.from({ length: until / 50 }, (_, n) =>
    request(50 * (n + 1), 50 * (n + 1) >= back ? 200 : 429),
  );

const untrue = (headers: Record<string, string>, back: number) =>
  untrueHeaders({ denied: request(0, 429, headers), later: later(back) }, 20);

describe("the wait that a denial names", () => {
  test("is true when the key is admitted then, and at most a second before", () => {
    expect(untrue({ "retry-after": "2" }, 2000)).toEqual([]);
    expect(untrue({ "retry-after": "2" }, 1100)).toEqual([]);
  });

  test("is too short when the key is still denied after it", () => {
    expect(untrue({ "retry-after": "1" }, 2000).join()).toContain("still denied");
  });

  test("is too long when the key was admitted seconds before", () => {
    expect(untrue({ "retry-after": "2" }, 500).join()).toContain("admitted again after 0.5 s");
  });
});

test("waits are read from every header that has one, whatever its form", () => {
  const seconds = (headers: Record<string, string>) =>
    namedWaits({ headers, answered_ms: AT }).map(({ header, seconds: wait }) => [header, wait]);
  expect(seconds({ ratelimit: '"default";r=0;t=7' })).toEqual([["ratelimit", 7]]);
  expect(seconds({ ratelimit: "limit=20, remaining=0, reset=3", "ratelimit-reset": "3" })).toEqual([
    ["ratelimit-reset", 3],
    ["ratelimit", 3],
  ]);
  expect(seconds({ "x-ratelimit-reset": String(AT / 1000 + 4) })).toEqual([
    ["x-ratelimit-reset", 4],
  ]);
  expect(seconds({ "retry-after": new Date(AT + 5000).toUTCString() })).toEqual([
    ["retry-after", 5],
  ]);
});

test("a denial that names another limit, or points that are left, contradicts itself", () => {
  expect(
    wrongQuota({ headers: { "x-ratelimit-limit": "20", "x-ratelimit-remaining": "0" } }, 20),
  ).toEqual([]);
  expect(
    wrongQuota({ headers: { "x-ratelimit-limit": "21", "x-ratelimit-remaining": "3" } }, 20),
  ).toHaveLength(2);
});
