import { expect, test } from "vitest";
import {
  type Answered,
  answersText,
  fateOf,
} from "../../../../../src/orchestrator/audit/api/api-answers.js";
import { turnedAwayAtLeastMs } from "../../../../../src/orchestrator/audit/api/checks/comes-back.js";
import { untrueWait } from "../../../../../src/orchestrator/audit/api/checks/retry-after.js";
import {
  rangeInAll,
  rangesOfBursts,
} from "../../../../../src/orchestrator/audit/api/declared-ranges.js";
import { limitHeaders } from "../../../../../src/orchestrator/audit/api/limit-headers.js";
import { OutOfRequests, Pacer } from "../../../../../src/orchestrator/audit/api/pacer.js";
import { unfitText } from "../../../../../src/orchestrator/audit/api/preflight.js";
import { holdsTwoWindows, type Trace } from "../../../../../src/orchestrator/audit/api/traces.js";

const T = 1_700_000_000_000;

const answered = (
  at_ms: number,
  status: number | null,
  rest: Partial<Answered> = {},
): Answered => ({
  sent_ms: T + at_ms,
  answered_ms: T + at_ms + 5,
  status,
  headers: {},
  body: "",
  fate: fateOf({ status }, 429),
  ...rest,
});

test.each([
  [
    "old and combined",
    { ratelimit: "limit=10, remaining=3, reset=2", "ratelimit-policy": "10;w=2" },
  ],
  [
    "new and structured",
    { ratelimit: '"default";r=3;t=2', "ratelimit-policy": '"default";q=10;w=2' },
  ],
  ["one by one", { "ratelimit-limit": "10", "ratelimit-remaining": "3", "ratelimit-reset": "2" }],
  [
    "with an X",
    { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "2" },
  ],
  [
    "since 1970",
    {
      "x-ratelimit-limit": "10",
      "x-ratelimit-remaining": "3",
      "x-ratelimit-reset": String(T / 1000 + 2),
    },
  ],
])("headers of limits that are %s are read alike", (_, headers) => {
  const { limits, remaining, resets } = limitHeaders(headers as Record<string, string>, T);
  expect(new Set(limits.map(({ points }) => points))).toEqual(new Set([10]));
  expect(remaining.map(({ points }) => points)).toEqual([3]);
  expect(resets.map(({ seconds }) => seconds)).toEqual([2]);
});

/** A key that was denied at once, and admitted again after 2 s. */
const trace = (retryAfter: string): [Trace, { text: string; seconds: number }] => {
  const denied = answered(0, 429, { headers: { "retry-after": retryAfter } });
  const readmitted = answered(2000, 200);
  const later = [...Array.from({ length: 39 }, (_, n) => answered(50 * (n + 1), 429)), readmitted];
  const wait = limitHeaders(denied.headers, denied.answered_ms).retryAfter;
  if (!wait) throw new Error("no wait");
  return [{ when: "at once", usedUp: [denied], denied, later, readmitted, every_ms: 50 }, wait];
};

test.each([
  ["2", undefined],
  ["3", undefined],
  ["1", "retry-after-too-short"],
  ["0", "retry-after-too-short"],
  ["2000", "retry-after-in-ms"],
  ["5", "retry-after-too-long"],
  ["soon", "quota-headers-untrue"],
  [new Date(T - 5000).toUTCString(), "retry-after-in-the-past"],
  [new Date(T + 2000).toUTCString(), undefined],
])("Retry-After %s of a key that comes back after 2 s: %s", (text, defect) => {
  const [made, wait] = trace(text);
  expect(untrueWait(made, wait, 2)).toBe(defect);
});

test.each([
  ["asked in time and denied", [answered(1900, 429), answered(2500, 429)], 2495],
  [
    "asked in time, and again after a pause of this machine",
    [answered(1900, 429), answered(2500, 200)],
    1895,
  ],
  ["not asked until after a pause of this machine", [answered(2500, 200)], 0],
])("how long a key was turned away, when it was %s", (_, later, least_ms) => {
  const denied = answered(0, 429);
  const readmitted = later.find(({ fate }) => fate === "admitted");
  const made = { when: "at once", usedUp: [denied], denied, later, readmitted, every_ms: 50 };
  expect(turnedAwayAtLeastMs(made)).toBe(least_ms);
});

test("a burst on a fresh key gets exactly the quota, whatever the algorithm and its clock", () => {
  const burst = { from_ms: T + 400, to_ms: T + 420, count: 30 };
  const ranges = rangesOfBursts("unknown", { points: 10, window_s: 2, block_s: 0 }, [burst]);
  expect(ranges).toEqual([{ least: 10, most: 10 }]);
});

test("a fixed window may begin with a key or with a clock that nobody knows", () => {
  const limits = { points: 10, window_s: 2, block_s: 0 };
  const requests = Array.from({ length: 40 }, (_, n) => ({
    from_ms: T + 50 * n,
    to_ms: T + 50 * n + 2,
    count: 1,
  }));
  // In two seconds, one window ends at most.
  expect(rangeInAll("fixed-window", limits, requests)).toEqual({ least: 10, most: 20 });
  expect(rangeInAll("token-bucket", limits, requests).most).toBeLessThanOrEqual(21);
});

test("answers in a row are counted", () => {
  const answers = [
    answered(0, 200),
    answered(1, 200),
    answered(2, 429),
    answered(3, null, { error: "reset" }),
  ];
  expect(answersText(answers)).toBe("2 × 200, 429, reset");
});

test.each<[string, Partial<Answered>, words: string]>([
  ["nobody", { status: null, code: "ECONNREFUSED" }, "nobody listens"],
  ["no name", { status: null, code: "ENOTFOUND" }, "no address"],
  ["a foreign authority", { status: null, code: "SELF_SIGNED_CERT_IN_CHAIN" }, "--ca"],
  ["HTTP/2 alone", { status: null, code: "HPE_INVALID_CONSTANT" }, "HTTP/2"],
  [
    "HTTP/2 by TLS alone",
    { status: null, code: "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL" },
    "HTTP/2",
  ],
  [
    "a redirect",
    { status: 302, headers: { location: "http://else/?token=secret" } },
    "http://else/?…",
  ],
  ["401", { status: 401 }, "says nothing about a limit"],
  ["404", { status: 404 }, "2xx"],
  ["429", { status: 429 }, "first request of a fresh key"],
])("%s is said in one line and judged by nobody", (_, answer, words) => {
  const text = unfitText({ ...answered(0, answer.status ?? null), ...answer });
  expect(text).toContain(words);
  expect(text).not.toMatch(/\n|secret/);
});

test("an answer that admits leaves something to audit", () => {
  expect(unfitText(answered(0, 204))).toBeUndefined();
});

test("no minute has more requests than allowed, and no audit more in all", async () => {
  let now_ms = 0;
  const limits = { requestsPerMinute: 2, maxRequests: 3, atOnce: 10 };
  const pacer = new Pacer(limits, () => now_ms);
  const { signal } = new AbortController();
  const send = () => pacer.paced(signal, async () => {});
  await send();
  now_ms = 20_000;
  await send();
  expect(pacer.wait_ms()).toBe(40_000);
  now_ms = 60_000;
  expect(pacer.wait_ms()).toBe(0);
  await send();
  now_ms = 200_000;
  await expect(send()).rejects.toThrow(OutOfRequests);
  expect(pacer.sent).toBe(3);
});

test("at most so many requests are on their way at once", async () => {
  const pacer = new Pacer({ requestsPerMinute: 100, maxRequests: 100, atOnce: 3 });
  const { signal } = new AbortController();
  let inFlight = 0;
  let most = 0;
  const request = async () => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    inFlight--;
  };
  await Promise.all(Array.from({ length: 12 }, () => pacer.paced(signal, request)));
  expect(most).toBe(3);
});

test.each([
  ["the quota of one window", 5, 0, false],
  ["requests of two windows", 7, 0, true],
  ["a quota and what came back meanwhile", 7, 1, false],
  ["more than came back meanwhile", 9, 1, true],
])("%s: whether a window began while a key was used up", (_, admitted, refilled, began) => {
  const usedUp = Array.from({ length: admitted }, (_, n) => answered(10 * n, 200));
  const api = {
    limits: { points: 5, window_s: 2, block_s: 0 },
    refilledIn: () => refilled,
    mayRefill: refilled > 0,
  };
  expect(holdsTwoWindows(api, [...usedUp, answered(100, 429)])).toBe(began);
});
