import { expect, test, vi } from "vitest";
import { rateLimiterFlexible } from "../../../src/targets/limiters/rate-limiter-flexible.js";
import { describeClient, findClient, resolveTarget } from "../../../src/targets/resolve.js";
import type { ClientDescription, OpenClient } from "../../../src/targets/types.js";
import { pairOf } from "../../helpers/limiter-pair.js";

const LIMITS = { points: 3, window_s: 60, block_s: 0 };
const memory = findClient("memory");

function targetOf(text: string) {
  const resolution = resolveTarget(text);
  if ("skip" in resolution) throw new Error(resolution.skip);
  return resolution.target;
}

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

test("the scripts are loaded on every shard, one after the other, and the keys are removed", async () => {
  let open = 0;
  let most = 0;
  const { client, handle, asked } = scripted(async () => {
    open++;
    most = Math.max(most, open);
    await new Promise(setImmediate);
    open--;
    return [1, 60_000];
  });
  await rateLimiterFlexible.create(client, findClient("iovalkey"), LIMITS);
  const keys = asked.map(([key]) => key);
  expect(keys).toEqual(["rl:one", "rl:one", "rl:two", "rl:two", "rl:three", "rl:three"]);
  expect(most).toBe(1);
  expect(new Set(handle.del.mock.calls.flat())).toEqual(new Set(["rl:one", "rl:two", "rl:three"]));
});

test.each(["iovalkey", "ioredis"])("%s: a store that fails at the start is an error", async (id) => {
  const { client } = scripted(() => Promise.reject(new Error("NOPERM")));
  await expect(rateLimiterFlexible.create(client, findClient(id), LIMITS)).rejects.toThrow("NOPERM");
});

test.each(["iovalkey", "ioredis"])(
  "%s: a store that fails later is the outcome failed, with its error",
  async (id) => {
    const failure = new Error("connection lost");
    let broken = false;
    const { client } = scripted(() => (broken ? Promise.reject(failure) : Promise.resolve([1, 60_000])));
    const created = await rateLimiterFlexible.create(client, findClient(id), LIMITS);
    broken = true;
    expect(await pairOf(created).standard.consume("a")).toEqual({ outcome: "failed", error: failure });
    expect(await pairOf(created).exhausted.consume("a")).toEqual({ outcome: "failed", error: failure });
  },
);

test("a rejection that is neither an answer nor an error is a failure, not a denial", async () => {
  let broken = false;
  const { client } = scripted(() => (broken ? Promise.reject("odd") : Promise.resolve([1, 60_000])));
  const created = await rateLimiterFlexible.create(client, findClient("iovalkey"), LIMITS);
  broken = true;
  expect(await pairOf(created).standard.consume("a")).toMatchObject({ outcome: "failed" });
});

test("a client without a class, and a class that the library does not have, are named defects", async () => {
  const { client } = scripted(async () => [1, 1]);
  await expect(rateLimiterFlexible.create(client, findClient("none"), LIMITS)).rejects.toThrow("no class");
  const wrong = { ...findClient("ioredis"), flexible: { className: "RateLimiterRedi" } };
  await expect(rateLimiterFlexible.create(client, wrong, LIMITS)).rejects.toThrow("no class RateLimiterRedi");
});

test("the limiter's script has its name in the store, if there is a script", async () => {
  const { client } = scripted(() => Promise.resolve([1, 60_000]));
  const scriptOf = async (description: ClientDescription) =>
    (await rateLimiterFlexible.create(client, description, LIMITS))?.script;
  const own = await scriptOf(findClient("iovalkey"));
  const same = await scriptOf(describeClient(targetOf("iovalkey+same-script")));
  expect(own).toMatchObject({ kind: "evalsha", name_or_sha1: expect.stringMatching(/^[0-9a-f]{40}$/) });
  expect(same?.name_or_sha1).not.toBe(own?.name_or_sha1);
  expect(await scriptOf(findClient("ioredis"))).toEqual(same);
  expect(await scriptOf(describeClient(targetOf("ioredis+same-script")))).toEqual(same);
  expect((await inMemory()).script).toBeUndefined();
});

test("a class that hides its script is a defect, not a limiter with an unknown script", async () => {
  const client = await memory.open({ store: "memory", topology: "none", nodes: [] });
  const hidden = {
    ...memory,
    flexible: { className: "RateLimiterMemory", script: { kind: "eval" } },
  } as const;
  await expect(rateLimiterFlexible.create(client, hidden, LIMITS)).rejects.toThrow("names no script");
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
