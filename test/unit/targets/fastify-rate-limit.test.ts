import { expect, test, vi } from "vitest";
import { fastifyRateLimit } from "../../../src/targets/limiters/fastify-rate-limit.js";
import { findClient } from "../../../src/targets/resolve.js";
import type { OpenClient } from "../../../src/targets/types.js";
import { pairOf } from "../../helpers/limiter-pair.js";

const LIMITS = { points: 3, window_s: 60, block_s: 0 };
const memory = findClient("memory");
const ioredis = findClient("ioredis");

async function inMemory() {
  const client = await memory.open({ store: "memory", topology: "none", nodes: [] });
  const created = await fastifyRateLimit.create(client, memory, LIMITS);
  return pairOf(created);
}

type Reply = (error: Error | null, answer?: [number, number]) => void;

/** A connection of ioredis's kind that answers the script with what the test says, and notes what it was asked. */
function scripted(answer: (key: string, reply: Reply) => void) {
  const asked: unknown[][] = [];
  const handle: Record<string, unknown> = {
    defineCommand(name: string) {
      handle[name] = (...words: [string, ...unknown[]]) => {
        asked.push(words.slice(0, -1));
        answer(words[0], words.at(-1) as Reply);
      };
    },
    del: vi.fn(async () => 1),
  };
  const client: OpenClient = {
    handle,
    settings: {},
    storeVersion: async () => undefined,
    shardKeys: async () => ["one", "two"],
    close: async () => undefined,
  };
  return { client, handle, asked };
}

test("admits the points of each key, then denies with the rest of the window", async () => {
  const { standard, version, script } = await inMemory();
  expect(version).toMatch(/^\d+\./);
  expect(script).toBeUndefined();
  const outcomes = [];
  for (let n = 0; n < 4; n++) outcomes.push((await standard.consume("a")).outcome);
  expect(outcomes).toEqual(["allowed", "allowed", "allowed", "limited"]);
  const denied = await standard.consume("a");
  expect(denied).toMatchObject({ outcome: "limited", limit: 3, remaining: 0 });
  if (denied.outcome === "limited") expect(denied.msBeforeNext).toBeGreaterThan(59_000);
  expect((await standard.consume("b")).outcome).toBe("allowed");
});

test("an exhausted key is denied at its first consume, and reports the same limit as other keys", async () => {
  const { exhausted } = await inMemory();
  expect(await exhausted.consume("fresh")).toMatchObject({ outcome: "limited", limit: 3, remaining: 0 });
});

test("more keys than the library's default capacity are counted in memory", async () => {
  const { standard } = await inMemory();
  for (let round = 0; round < LIMITS.points; round++) {
    for (let n = 0; n < 6_000; n++) await standard.consume(`user-${n}`);
  }
  expect((await standard.consume("user-0")).outcome).toBe("limited");
});

test("both limiters run one script on the same key; it is loaded on every shard and the keys are removed", async () => {
  const { client, handle, asked } = scripted((_key, reply) => reply(null, [1, 60_000]));
  const created = await fastifyRateLimit.create(client, ioredis, LIMITS, "mine");
  expect(asked.map(([key, window_ms, max]) => [key, window_ms, max])).toEqual([
    ["mine:one", 60_000, 3],
    ["mine:one", 60_000, 0],
    ["mine:two", 60_000, 3],
    ["mine:two", 60_000, 0],
  ]);
  expect(vi.mocked(handle.del as () => void).mock.calls).toEqual([["mine:one"], ["mine:two"]]);
  expect(created?.script).toMatchObject({
    kind: "evalsha",
    name_or_sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
  });
});

test("a failing store is an error at the start, and later the outcome failed, never a denial", async () => {
  const failure = new Error("connection lost");
  const broken = scripted((_key, reply) => reply(failure));
  await expect(fastifyRateLimit.create(broken.client, ioredis, LIMITS)).rejects.toThrow("connection lost");
  let breaks = false;
  const { client } = scripted((_key, reply) => (breaks ? reply(failure) : reply(null, [1, 60_000])));
  const created = await fastifyRateLimit.create(client, ioredis, LIMITS);
  breaks = true;
  expect(await pairOf(created).standard.consume("a")).toEqual({ outcome: "failed", error: failure });
  expect(await pairOf(created).exhausted.consume("a")).toEqual({ outcome: "failed", error: failure });
});

test("an unsupported client is a named defect, and a block is unsupported", async () => {
  const { client } = scripted((_key, reply) => reply(null, [1, 1]));
  const glide = findClient("valkey-glide");
  await expect(fastifyRateLimit.create(client, glide, LIMITS)).rejects.toThrow("no store for valkey-glide");
  expect(fastifyRateLimit.unsupportedReason?.(LIMITS)).toBeUndefined();
  expect(fastifyRateLimit.unsupportedReason?.({ ...LIMITS, block_s: 7 })).toContain("7 s");
});

test("a cost other than one is a failure that says so, and counts nothing", async () => {
  const { standard } = await inMemory();
  expect(await standard.consume("a", 2)).toMatchObject({
    outcome: "failed",
    error: new Error("@fastify/rate-limit counts requests: a cost of 2 is not possible"),
  });
  const outcomes = [];
  for (let n = 0; n < 4; n++) outcomes.push((await standard.consume("a", 1)).outcome);
  expect(outcomes).toEqual(["allowed", "allowed", "allowed", "limited"]);
});
