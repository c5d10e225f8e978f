import { describe, expect, test } from "vitest";
import type { SentRequest } from "../../../../src/contract/sender.js";
import { namedWaits, untrueHeaders, wrongQuota } from "../../../../src/orchestrator/audit/checks/headers.js";

const T = 1_700_000_000_000;
const request = (at: number, status: number, headers?: Record<string, string>): SentRequest => ({
  group: 0,
  server: 0,
  sent_ms: T + at,
  answered_ms: T + at + 2,
  status,
  ...(headers ? { headers } : {}),
});

/** Asked every 50 ms; admitted from that moment on. */
const later = (back: number, until = 4000) =>
  Array.from({ length: until / 50 }, (_, n) => request(50 * (n + 1), 50 * (n + 1) >= back ? 200 : 429));

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
    namedWaits({ headers, answered_ms: T }).map(({ header, seconds: wait }) => [header, wait]);
  expect(seconds({ ratelimit: '"default";r=0;t=7' })).toEqual([["ratelimit", 7]]);
  expect(seconds({ ratelimit: "limit=20, remaining=0, reset=3", "ratelimit-reset": "3" })).toEqual([
    ["ratelimit-reset", 3],
    ["ratelimit", 3],
  ]);
  expect(seconds({ "x-ratelimit-reset": String(T / 1000 + 4) })).toEqual([["x-ratelimit-reset", 4]]);
  expect(seconds({ "retry-after": new Date(T + 5000).toUTCString() })).toEqual([["retry-after", 5]]);
});

test("a denial that names another limit, or points that are left, contradicts itself", () => {
  expect(wrongQuota({ headers: { "x-ratelimit-limit": "20", "x-ratelimit-remaining": "0" } }, 20)).toEqual(
    [],
  );
  expect(
    wrongQuota({ headers: { "x-ratelimit-limit": "21", "x-ratelimit-remaining": "3" } }, 20),
  ).toHaveLength(2);
});
