import { DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import { ownLibraries } from "../libraries.js";
import { ALLOWED, limited } from "../request-limiter.js";
import type { LimiterDescription, OpenClient } from "../types.js";
import { LibraryLimiter, noBlock, onIoredis, preload } from "./library.js";

const PACKAGE = "rate-limit-redis";

/** The methods of ioredis and iovalkey that the store's commands need. */
interface Handle {
  call(command: string, ...parameters: string[]): Promise<unknown>;
  del(key: string): Promise<number>;
  /** Only in a cluster. */
  nodes?(role: "master"): Pick<Handle, "call">[];
}

/**
 * Sends the library's commands. In a cluster a script is loaded on every primary, because SCRIPT LOAD names no key; each
 * call then goes to the node of its key.
 */
const sender =
  (handle: Handle) =>
  async ({ command: [name = "", ...parameters] }: { command: string[] }): Promise<unknown> => {
    const primaries = name === "SCRIPT" ? handle.nodes?.("master") : undefined;
    if (!primaries) return handle.call(name, ...parameters);
    const [sha1] = await Promise.all(primaries.map((node) => node.call(name, ...parameters)));
    return sha1;
  };

export const rateLimitRedis: LimiterDescription = {
  id: "rate-limit-redis",
  package: PACKAGE,
  summary: "the limiter is rate-limit-redis, the store of express-rate-limit, without Express",
  algorithm: "fixed window",
  atomic: true,
  applyTo: (client) => onIoredis(client, "rate-limit-redis"),
  takesCost: false,
  unsupportedReason: ({ block_s }) => noBlock(PACKAGE, block_s),
  countKey: (key, keyPrefix) => `${keyPrefix}:${key}`,
  async create(
    client: OpenClient,
    _description,
    { points, window_s },
    keyPrefix = DEFAULT_KEY_PREFIX,
    libraries = ownLibraries,
  ) {
    const { RedisStore } = await libraries.load(PACKAGE, () => import("rate-limit-redis"));
    const handle = client.handle as Handle;
    const prefix = `${keyPrefix}:`;
    const send = sender(handle);
    const store = new RedisStore({
      prefix,
      sendCommandCluster: async (details) => (await send(details)) as number,
    });
    // It reads the window alone.
    await store.init({ windowMs: window_s * 1_000 } as Parameters<typeof store.init>[0]);
    // The library counts; whether a count is within the limit is decided by its caller.
    const limiting = (limit: number) =>
      new LibraryLimiter(
        (key) => store.increment(key),
        ({ totalHits, resetTime }) =>
          totalHits <= limit
            ? ALLOWED
            : limited(points, 0, Math.max(0, (resetTime?.getTime() ?? 0) - Date.now())),
      );
    const pair = { standard: limiting(points), exhausted: limiting(0) };
    await preload(Object.values(pair), await client.shardKeys(), (key) => handle.del(prefix + key));
    const sha1 = await store.incrementScriptSha;
    return { version: libraries.version(PACKAGE), script: { kind: "evalsha", name_or_sha1: sha1 }, ...pair };
  },
};
