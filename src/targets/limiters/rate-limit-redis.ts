import type { Store } from "express-rate-limit";
import type { Limits } from "../../contract/configuration.js";
import type { LimiterScript } from "../../contract/server-api.js";
import type { Libraries } from "../libraries.js";
import { ALLOWED, limited } from "../request-limiter.js";
import type { ClientDescription, LimiterDescription, OpenClient } from "../target-types.js";
import { LibraryLimiter, noBlock, onIoredis, preload } from "./library.js";

const PACKAGE = "rate-limit-redis";

/** The methods of ioredis and iovalkey, or of node-redis, that the store's commands need. */
interface Handle {
  call(command: string, ...parameters: string[]): Promise<unknown>;
  sendCommand?(words: string[]): Promise<unknown>;
  del(key: string): Promise<number>;
  /** The nodes of a cluster. A standalone client has no such method. */
  nodes?(role: "master"): Pick<Handle, "call">[];
}

/** Loads a script on every primary of a cluster, because SCRIPT LOAD names no key. */
const sender =
  (handle: Handle, { handleApi }: ClientDescription) =>
  async ({ command: [name = "", ...parameters] }: { command: string[] }): Promise<unknown> => {
    if (handleApi === "node-redis") return handle.sendCommand?.([name, ...parameters]);
    const primaries = name === "SCRIPT" ? handle.nodes?.("master") : undefined;
    if (!primaries) return handle.call(name, ...parameters);
    const [sha1] = await Promise.all(primaries.map((node) => node.call(name, ...parameters)));
    return sha1;
  };

export async function redisStore(
  { handle }: OpenClient,
  description: ClientDescription,
  { window_s }: Limits,
  prefix: string,
  libraries: Libraries,
) {
  const { RedisStore } = await libraries.load(PACKAGE, () => import("rate-limit-redis"));
  const send = sender(handle as Handle, description);
  const store = new RedisStore({
    prefix,
    sendCommandCluster: async (details) => (await send(details)) as number,
  });
  // It reads the window alone.
  await store.init({ windowMs: window_s * 1_000 } as Parameters<typeof store.init>[0]);
  return store;
}

/**
 * The limiters on a store of express-rate-limit. The store counts, and its caller decides
 * whether a count is within the limit.
 */
export function limitersOn(store: Pick<Store, "increment">, { points }: Limits) {
  const limiting = (limit: number) =>
    new LibraryLimiter(
      async (key) => store.increment(key),
      ({ totalHits, resetTime }) =>
        totalHits <= limit
          ? ALLOWED
          : limited(points, 0, Math.max(0, (resetTime?.getTime() ?? 0) - Date.now())),
    );
  return { standard: limiting(points), exhausted: limiting(0) };
}

/** Loads the library's script, and leaves no key. @returns the script */
export async function preloaded(
  pair: ReturnType<typeof limitersOn>,
  store: Awaited<ReturnType<typeof redisStore>>,
  client: OpenClient,
  prefix: string,
): Promise<LimiterScript> {
  const handle = client.handle as Handle;
  await preload(Object.values(pair), await client.shardKeys(), (key) => handle.del(prefix + key));
  return { kind: "evalsha", name_or_sha1: await store.incrementScriptSha };
}

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
  async create(client, description, limits, keyPrefix, libraries) {
    const prefix = `${keyPrefix}:`;
    const store = await redisStore(client, description, limits, prefix, libraries);
    const pair = limitersOn(store, limits);
    const script = await preloaded(pair, store, client, prefix);
    return { version: libraries.version(PACKAGE), script, ...pair };
  },
};
