import { ALLOWED, limited } from "../request-limiter.js";
import type { LimiterDescription } from "../target-types.js";
import { LibraryLimiter, noBlock, onIoredis, preload, scriptSha1 } from "./library.js";

const PACKAGE = "redis-gcra";

/**
 * Its script adds the time of one point to a time in milliseconds as a double, whose last place is
 * 0.00024 ms: it fails where a point takes less. A larger quota, which no load can use up, keeps
 * its burst and is refilled by this much.
 */
const MOST_POINTS_PER_MS = 100;

/** The methods of ioredis and iovalkey that the library and our clean-up call. */
interface Handle {
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string | Buffer }): void;
  del(key: string): Promise<number>;
}

export const redisGcra: LimiterDescription = {
  id: "redis-gcra",
  package: PACKAGE,
  summary: "the limiter is redis-gcra, by the clock of the server process",
  algorithm: "GCRA",
  atomic: true,
  applyTo: (client) => onIoredis(client, "redis-gcra"),
  takesCost: true,
  unsupportedReason: ({ block_s }) => noBlock(PACKAGE, block_s),
  async create(client, _description, { points, window_s }, prefix, libraries) {
    const { default: create } = await libraries.load(PACKAGE, () => import("redis-gcra"));
    const handle = client.handle as Handle;
    const period = window_s * 1_000;
    const rate = Math.min(points, period * MOST_POINTS_PER_MS);
    const library = create({ redis: handle, keyPrefix: prefix, burst: points, rate, period });
    /** @param costOf a cost beyond the burst is always denied, by the same script */
    const limiting = (costOf: (cost: number) => number) =>
      new LibraryLimiter(
        (key, cost) => library.limit({ key, cost: costOf(cost) }),
        ({ limited: isLimited, remaining, retryIn }) =>
          // The wait is infinite where the cost is beyond the burst.
          isLimited ? limited(points, remaining, Math.min(retryIn, period)) : ALLOWED,
      );
    const pair = { standard: limiting((cost) => cost), exhausted: limiting(() => points + 1) };
    await preload(Object.values(pair), await client.shardKeys(), (key) =>
      handle.del(`${prefix}/${key}`),
    );
    const sha1 = await scriptSha1(PACKAGE, (redis) => create({ redis }));
    return {
      version: libraries.version(PACKAGE),
      script: { kind: "evalsha", name_or_sha1: sha1 },
      ...pair,
    };
  },
};
