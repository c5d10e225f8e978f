import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ownLibraries } from "../../../src/targets/libraries.js";
import { rateLimiterFlexible } from "../../../src/targets/limiters/rate-limiter-flexible.js";
import {
  asRequestLimiter,
  FAIL_OPEN_AFTER_MS,
  failOpen,
} from "../../../src/targets/request-limiter.js";
import { describeClient, findClient, resolveTarget } from "../../../src/targets/resolve.js";
import type {
  ClientDescription,
  Decision,
  Limiter,
  OpenClient,
} from "../../../src/targets/target-types.js";
import { ALLOWED, FAILED, limited } from "../../helpers/app.js";
import { pairOf } from "../../helpers/limiter-pair.js";
import { targetOf } from "../../helpers/target.js";

const LIMITS = { points: 3, window_s: 60, block_s: 0 };
const memory = findClient("memory");
const createdOn = (client: OpenClient, description: ClientDescription, limits = LIMITS) =>
  rateLimiterFlexible.create(client, description, limits, "rl", ownLibraries);

async function inMemory(limits = LIMITS) {
  const client = await memory.open({ store: "memory", topology: "none", nodes: [] });
  const created = await createdOn(client, memory, limits);
  return pairOf(created);
}

/**
 * A connection of ioredis's kind that answers the script with what the test says, and notes what it
 * was asked.
 */
function scripted(answer: (key: string) => Promise<[number, number]>) {
  const asked: string[][] = [];
  const handle = {
    status: "ready",
    defineCommand: () => undefined,
    rlflxIncr: (words: string[]) => {
      asked.push(words);
      return answer(words[0] ?? "");
    },
    del: vi.fn(async () => 1),
  };
  const client: OpenClient = {
    handle,
    settings: {},
    storeVersion: async () => undefined,
    shardKeys: async () => ["one", "two", "three"],
    close: async () => undefined,
  };
  return { client, handle, asked };
}

test("admits the points of each key, then denies with the rest of the window", async () => {
  const { standard, version } = await inMemory();
  expect(version).toMatch(/^\d+\./);
  const outcomes = [];
  for (let index = 0; index < 4; index++) outcomes.push((await standard.consume("a")).outcome);
  expect(outcomes).toEqual(["allowed", "allowed", "allowed", "limited"]);
  const denied = await standard.consume("a");
  expect(denied).toMatchObject({ outcome: "limited", limit: 3, remaining: 0 });
  if (denied.outcome === "limited") expect(denied.msBeforeNext).toBeGreaterThan(0);
  expect((await standard.consume("b")).outcome).toBe("allowed");
});

test("an exhausted key is denied at its first consume, and reports the same limit as other keys", async () => {
  const { exhausted } = await inMemory();
  expect(await exhausted.consume("fresh")).toMatchObject({
    outcome: "limited",
    limit: 3,
    remaining: 0,
  });
});

test("a block has the given length, and exhausted keys have no block", async () => {
  const { standard, exhausted } = await inMemory({ points: 1, window_s: 10, block_s: 500 });
  await standard.consume("a");
  const blocked = await standard.consume("a");
  expect(blocked).toMatchObject({ outcome: "limited", msBeforeNext: 500_000 });
  expect(await exhausted.consume("a")).toMatchObject({ msBeforeNext: 10_000 });
});

test("a rejection that is neither an answer nor an error is a failure, not a denial", async () => {
  let broken = false;
  const { client } = scripted(() =>
    broken ? Promise.reject("odd") : Promise.resolve([1, 60_000]),
  );
  const created = await createdOn(client, findClient("iovalkey"));
  broken = true;
  expect(await pairOf(created).standard.consume("a")).toMatchObject({ outcome: "failed" });
});

test("a request may cost more than one point", async () => {
  const { standard } = await inMemory();
  expect((await standard.consume("a", 2)).outcome).toBe("allowed");
  expect((await standard.consume("a", 2)).outcome).toBe("limited");
});

test("a consume that gets no answer in time has failed, where the client's library may never answer", async () => {
  let answers = true;
  const { client } = scripted(() =>
    answers ? Promise.resolve([1, 60_000]) : new Promise<never>(() => undefined),
  );
  const description = findClient("iovalkey");
  const flexible = { className: "RateLimiterRedis", timeoutMs: 20 };
  const { standard } = pairOf(await createdOn(client, { ...description, flexible }));
  expect((await standard.consume("a")).outcome).toBe("allowed");
  answers = false;
  expect(await standard.consume("a")).toMatchObject({
    outcome: "failed",
    error: new Error("no answer within 20 ms"),
  });
});

const opening = (decide: (key: string) => Promise<Decision>) =>
  failOpen(asRequestLimiter({ standard: { consume: decide }, exhausted: { consume: decide } }));

describe("a limiter that fails open", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("keeps every decision in time", async () => {
    const limiter = opening(async (key) => (key === "a" ? ALLOWED : limited(5)));
    expect(await limiter.consume("a")).toEqual(ALLOWED);
    expect(await limiter.consume("b")).toEqual(limited(5));
    expect(limiter.consumes).toEqual({
      calls: 2,
      allowed: 1,
      limited: 1,
      failed: 0,
      without_store: 0,
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("admits what has failed, and counts it apart", async () => {
    const limiter = opening(async () => FAILED);
    expect(await limiter.consume("a")).toEqual(ALLOWED);
    expect(await limiter.consume(["b", "c"])).toEqual(ALLOWED);
    expect(limiter.consumes).toEqual({
      calls: 3,
      allowed: 3,
      limited: 0,
      failed: 0,
      without_store: 3,
    });
  });

  test("admits after a bounded wait, whatever is decided later", async () => {
    let decide: (decision: Decision) => void = () => {};
    const limiter = opening(() => new Promise((resolve) => (decide = resolve)));
    const settled = vi.fn();
    const consumed = limiter.consume("a").then(settled);
    await vi.advanceTimersByTimeAsync(FAIL_OPEN_AFTER_MS - 1);
    expect(settled).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await consumed;
    expect(settled).toHaveBeenCalledWith(ALLOWED);
    expect(limiter.consumes).toMatchObject({ calls: 1, allowed: 1, failed: 0, without_store: 1 });
    decide(FAILED);
    await vi.advanceTimersByTimeAsync(0);
    expect(limiter.consumes).toMatchObject({ allowed: 1, failed: 0, without_store: 1 });
  });
});

describe("+fail-open", () => {
  test.each([
    "iovalkey",
    "valkey-glide:cluster",
    "memcached",
    "ioredis+fastify-rate-limit",
    "ioredis+redis-cell",
    "envoy-grpc",
    "ioredis@throttlecrab",
  ])("is an option of %s", (text) => {
    const target = targetOf(`${text}+fail-open`, () => true);
    expect(describeClient(target).failsOpen).toBe(true);
    expect(describeClient({ ...target, options: [] })).not.toHaveProperty("failsOpen");
  });

  test.each([
    ["none", "no store that could fail"],
    ["memory", "no store that could fail"],
    ["ioredis+insurance-limiter", "its insurance limiter decides"],
  ])("is skipped for %s with the reason", (text, reason) => {
    expect(resolveTarget(`${text}+fail-open`, () => true)).toEqual({
      skip: expect.stringContaining(reason),
    });
  });
});

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
  const decisions: Record<string, Decision> = {
    a: ALLOWED,
    b: limited(5),
    c: limited(9),
    d: FAILED,
  };
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
