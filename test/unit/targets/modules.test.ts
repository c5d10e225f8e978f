import { describe, expect, test } from "vitest";
import { ownLibraries } from "../../../src/targets/libraries.js";
import { moduleLimiters, modules } from "../../../src/targets/modules/index.js";
import { describeClient, resolveTarget } from "../../../src/targets/resolve.js";
import type { LimiterDescription, OpenClient } from "../../../src/targets/target-types.js";
import { pairOf } from "../../helpers/limiter-pair.js";

const resolved = (text: string, available: (id: string) => boolean | string = () => true) => {
  const resolution = resolveTarget(text, available);
  return "skip" in resolution ? resolution.skip : resolution.target;
};

const CLIENTS = ["valkey-glide", "iovalkey", "ioredis", "node-redis"];
const LIMITS = { points: 20, window_s: 600, block_s: 0 };

describe.each(modules.map(({ id }) => id))("+%s", (id) => {
  test.each(CLIENTS)(
    "on %s runs on both stores in every topology, and the client's own store stays first",
    (client) => {
      const resolution = resolved(client);
      expect(resolved(`${client}+${id}`)).toMatchObject({
        label: `${client}+${id}`,
        store: typeof resolution === "string" ? resolution : resolution.store,
        limiter: id,
        module: id,
        decided_by: "module",
      });
      for (const store of ["redis", "valkey"])
        for (const topology of ["standalone", "cluster", "cluster-3"])
          expect(resolved(`${client}@${store}:${topology}+${id}`)).toMatchObject({
            store,
            topology,
          });
    },
  );

  test.each(["memcached", "none", "memory"])("is skipped on %s with a reason", (client) => {
    expect(resolved(`${client}+${id}`)).toMatch(
      new RegExp(`^${client} does not support \\+${id}: .*modules`),
    );
  });

  test("is skipped with the remedy where no file is named", () => {
    const remedy = `no file: give --program ${id}=…`;
    expect(resolved(`ioredis+${id}`, (part) => (part === id ? remedy : true))).toBe(remedy);
  });
});

/** A client whose store answers every decision with one reply. */
function answering(reply: unknown) {
  const sent: unknown[][] = [];
  const client: OpenClient = {
    handle: undefined,
    settings: {},
    storeVersion: async () => undefined,
    command: async (...words) => {
      sent.push(words);
      return words[1] === "DEL" ? 1 : reply;
    },
    shardKeys: async () => ["one", "two"],
    close: async () => undefined,
  };
  return { client, sent };
}

const [redisCell, redisShield] = moduleLimiters as [LimiterDescription, LimiterDescription];
const ioredis = () => describeClient({ client: "ioredis", topology: "standalone", options: [] });
const createdOn = (limiter: LimiterDescription, client: OpenClient) =>
  limiter.create(client, ioredis(), LIMITS, "rl", ownLibraries);

describe("the commands", () => {
  test("of redis-cell name burst, count and period, never a count of 0; every key that opening used is deleted", async () => {
    const { client, sent } = answering([1, 20, 3, 17, 540]);
    const { standard, exhausted } = pairOf(await createdOn(redisCell, client));
    expect(sent).toEqual(
      ["rl:one", "rl:two"].flatMap((key) => [
        [key, "cl.throttle", key, 19, 20, 600, 1],
        [key, "cl.throttle", key, 19, 20, 600, 21],
        [key, "DEL", key],
      ]),
    );
    sent.length = 0;
    const denied = { outcome: "limited", limit: 20, remaining: 3, msBeforeNext: 17_000 };
    expect(await standard.consume("ada", 5)).toEqual(denied);
    expect(await exhausted.consume("ada", 5)).toMatchObject({
      remaining: 0,
      msBeforeNext: 600_000,
    });
    expect(sent).toEqual([
      ["rl:ada", "cl.throttle", "rl:ada", 19, 20, 600, 5],
      ["rl:ada", "cl.throttle", "rl:ada", 19, 20, 600, 21],
    ]);
    expect(standard.decisions?.limited).toBe(3);
  });

  test("of redis-shield name capacity, period and tokens; -1 is a denial", async () => {
    const denying = answering(-1);
    const { standard, exhausted } = pairOf(await createdOn(redisShield, denying.client));
    denying.sent.length = 0;
    const denied = { outcome: "limited", limit: 20, remaining: 0, msBeforeNext: 150_000 };
    expect(await standard.consume("ada", 5)).toEqual(denied);
    await exhausted.consume("ada");
    expect(denying.sent).toEqual([
      ["rl:ada", "SHIELD.absorb", "rl:ada", 20, 600, 5],
      ["rl:ada", "SHIELD.absorb", "rl:ada", 20, 600, 21],
    ]);
    const admitting = answering(0);
    const pair = pairOf(await createdOn(redisShield, admitting.client));
    expect(await pair.standard.consume("ada")).toEqual({ outcome: "allowed" });
  });

  test.each([
    [redisCell, "OK"],
    [redisCell, [0, 20]],
    [redisShield, null],
  ])("fail for a reply of another form", async (limiter, reply) => {
    const { client } = answering(reply);
    await expect(createdOn(limiter, client)).rejects.toThrow(/not a reply of/);
  });
});
