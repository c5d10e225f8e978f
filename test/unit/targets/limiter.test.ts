import { expect, test, vi } from "vitest";
import { rateLimiterFlexible } from "../../../src/targets/limiters/rate-limiter-flexible.js";
import { findClient } from "../../../src/targets/resolve.js";
import type { OpenClient } from "../../../src/targets/types.js";
import { pairOf } from "../../helpers/limiter-pair.js";

const LIMITS = { points: 3, window_s: 60, block_s: 0 };
const memory = findClient("memory");

async function inMemory(limits = LIMITS) {
  const client = await memory.open({ store: "memory", topology: "none", nodes: [] });
  const created = await rateLimiterFlexible.create(client, memory, limits);
  return pairOf(created);
}

/** A connection of ioredis's kind that answers the script with what the test says, and notes what it was asked. */
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
  for (let n = 0; n < 4; n++) outcomes.push((await standard.consume("a")).outcome);
  expect(outcomes).toEqual(["allowed", "allowed", "allowed", "limited"]);
  const denied = await standard.consume("a");
  expect(denied).toMatchObject({ outcome: "limited", limit: 3, remaining: 0 });
  if (denied.outcome === "limited") expect(denied.msBeforeNext).toBeGreaterThan(0);
  expect((await standard.consume("b")).outcome).toBe("allowed");
});

test("an exhausted key is denied at its first consume, and reports the same limit as other keys", async () => {
  const { exhausted } = await inMemory();
  expect(await exhausted.consume("fresh")).toMatchObject({ outcome: "limited", limit: 3, remaining: 0 });
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
  const { client } = scripted(() => (broken ? Promise.reject("odd") : Promise.resolve([1, 60_000])));
  const created = await rateLimiterFlexible.create(client, findClient("iovalkey"), LIMITS);
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
  const { standard } = pairOf(await rateLimiterFlexible.create(client, { ...description, flexible }, LIMITS));
  expect((await standard.consume("a")).outcome).toBe("allowed");
  answers = false;
  expect(await standard.consume("a")).toMatchObject({
    outcome: "failed",
    error: new Error("no answer within 20 ms"),
  });
});
