import { createHash } from "node:crypto";

const SCRIPT = `
local used = redis.call("INCRBY", KEYS[1], ARGV[1])
if used == tonumber(ARGV[1]) then redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
return {used, redis.call("PTTL", KEYS[1])}`;

const ALLOWED = { outcome: "allowed" };

/** Decides on one key with a quota of `points`; `limit` is the quota that it reports. */
const limiterOf = (redis, prefix, points, limit, windowMs) => ({
  consume: (key, cost = 1) =>
    redis.myLimiterConsume(`${prefix}:${key}`, cost, windowMs).then(
      ([used, left]) =>
        used <= points ? ALLOWED : { outcome: "limited", limit, remaining: 0, msBeforeNext: left },
      (error) => ({ outcome: "failed", error }),
    ),
});

/** @type {import("ratelimit-bench/plugin").Plugin} */
export default {
  limiters: [
    {
      id: "my-limiter",
      takesCost: true,
      unsupportedReason: ({ block_s }) =>
        block_s > 0 ? "my-limiter does not support a block" : undefined,
      async create({ handle, shardKeys }, _client, { points, window_s }, prefix) {
        handle.defineCommand("myLimiterConsume", { lua: SCRIPT, numberOfKeys: 1 });
        // A quota of 0 denies from the first consume, at the same cost for the store.
        const [standard, exhausted] = [points, 0].map((quota) =>
          limiterOf(handle, prefix, quota, points, window_s * 1000),
        );
        // Loads the script into each primary, and leaves no key behind.
        const keys = await shardKeys();
        for (const key of keys) {
          const { error } = await standard.consume(key);
          if (error) throw error;
          await handle.del(`${prefix}:${key}`);
        }
        return {
          script: {
            kind: "evalsha",
            name_or_sha1: createHash("sha1").update(SCRIPT).digest("hex"),
          },
          version: "1.0.0",
          standard,
          exhausted,
        };
      },
    },
  ],
  options: [
    {
      id: "my-limiter",
      summary: "the limiter is my-limiter",
      apply(client) {
        if (client.handleApi !== "ioredis")
          return { skip: `${client.id} has not the methods of ioredis` };
        const { flexible, sameScript, ...rest } = client;
        return { ...rest, stores: ["redis", "valkey"], limiter: "my-limiter" };
      },
    },
  ],
};
