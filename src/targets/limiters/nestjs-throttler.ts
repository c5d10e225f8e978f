import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import { definedOnly } from "../../kit/defined-only.js";
import { NEST } from "../frameworks.js";
import { commonJs, type Libraries } from "../libraries.js";
import { ALLOWED, limited } from "../request-limiter.js";
import type { HookedRequest, InstallHook, LimiterDescription } from "../target-types.js";
import { LibraryLimiter, noBlock, onIoredis, preload, sha1Of, withLimiter } from "./library.js";

const PACKAGE = "@nestjs/throttler";
const REDIS_STORAGE = "@nest-lab/throttler-storage-redis";
/** The name of a throttler to which its users give no name. */
const THROTTLER = "default";

/**
 * With this many hits of one key in the window its memory takes about 20 times as long as with
 * 1,000.
 */
const MAX_HITS_IN_MEMORY = 20_000;

interface Answer {
  isBlocked: boolean;
  /** How long a blocked key stays blocked, in seconds. */
  timeToBlockExpire: number;
}
interface Storage {
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    name: string,
  ): Promise<Answer>;
}
interface RedisStorage extends Storage {
  redis: unknown;
  scriptSrc: string;
}

type KeyedRequest = HookedRequest & { limited_key: string };
interface Context {
  switchToHttp(): { getRequest(): KeyedRequest };
}
type Guard = new (
  ...parameters: never[]
) => { throwThrottlingException(context: Context, detail: unknown): Promise<void> };

interface Throttler {
  ThrottlerModule: { forRoot(options: object): unknown };
  ThrottlerGuard: Guard;
  ThrottlerStorageService: new () => Storage;
}
type RedisLibrary = { ThrottlerStorageRedisService: new (options: object) => RedisStorage };

export const nestjsThrottler: LimiterDescription = {
  id: "nestjs-throttler",
  onDemand: NEST,
  framework: "nest",
  summary: "the limiter is @nestjs/throttler, in memory or over its storage in Redis",
  algorithm: "fixed window",
  atomic: true,
  applyTo(client) {
    if (!client.stores.includes("memory")) return onIoredis(client, "nestjs-throttler");
    return {
      ...withLimiter(client, "nestjs-throttler"),
      unsupportedReason: ({ points }) =>
        points > MAX_HITS_IN_MEMORY
          ? `the memory of ${PACKAGE} slows down with the hits of a key: give --points, at most ${MAX_HITS_IN_MEMORY}`
          : undefined,
    };
  },
  takesCost: false,
  unsupportedReason: ({ block_s }) => noBlock(PACKAGE, block_s),
  async create(client, { stores }, { points, window_s }, keyPrefix, libraries) {
    const library = await commonJs<Throttler>(libraries.fromFolder(PACKAGE));
    const redis = stores.includes("memory")
      ? undefined
      : await redisStorage(client.handle, libraries);
    const storage = redis ?? new library.ThrottlerStorageService();
    const ttl = window_s * 1_000;
    const limiting = (limit: number) =>
      new LibraryLimiter(
        (key) => storage.increment(`${keyPrefix}:${key}`, ttl, limit, ttl, THROTTLER),
        ({ isBlocked, timeToBlockExpire }) =>
          isBlocked ? limited(points, 0, timeToBlockExpire * 1_000) : ALLOWED,
      );
    const install: InstallHook = async (parts: { imports: unknown[]; guards: unknown[] }, hook) => {
      // The first that it asks of a request.
      const limit = (context: Context): number => {
        const request = context.switchToHttp().getRequest();
        request.limited_key = hook.keyOf(request);
        return request.limited_key.startsWith(EXHAUSTED_KEY_PREFIX) ? 0 : points;
      };
      class Guarded extends library.ThrottlerGuard {
        override throwThrottlingException(context: Context, detail: unknown): Promise<void> {
          hook.decided(context.switchToHttp().getRequest(), "limited");
          return super.throwThrottlingException(context, detail);
        }
      }
      const admitted = {
        canActivate(context: Context): boolean {
          hook.decided(context.switchToHttp().getRequest(), "allowed");
          return true;
        },
      };
      const increment: Storage["increment"] = (key, ...others) =>
        storage.increment(`${keyPrefix}:${key}`, ...others);
      const getTracker = (request: KeyedRequest) => request.limited_key;
      parts.imports.push(
        library.ThrottlerModule.forRoot({
          throttlers: [{ name: THROTTLER, ttl, limit }],
          storage: { increment },
          ...definedOnly({ getTracker: hook.byAddress ? undefined : getTracker }),
        }),
      );
      parts.guards.push(Guarded, admitted);
    };
    const pair = { standard: limiting(points), exhausted: limiting(0) };
    if (redis) {
      const handle = client.handle as { del(...keys: string[]): Promise<number> };
      await preload(Object.values(pair), await client.shardKeys(), async (key) => {
        const tagged = `{${keyPrefix}:${key}:${THROTTLER}}`;
        await handle.del(`${tagged}:hits`, `${tagged}:blocked`);
        // The library's keys are on other primaries than that of this one, which has to be
        // connected, too.
        await handle.del(key);
      });
    }
    const script = redis && { kind: "eval" as const, name_or_sha1: sha1Of(redis.scriptSrc) };
    return { ...definedOnly({ version: libraries.version(PACKAGE), script }), install, ...pair };
  },
};

/**
 * The library's storage on the client. The library takes connections of its own copy of
 * ioredis alone, so this storage takes their place.
 */
async function redisStorage(handle: unknown, libraries: Libraries): Promise<RedisStorage> {
  const library = await commonJs<RedisLibrary>(libraries.fromFolder(REDIS_STORAGE));
  const storage = new library.ThrottlerStorageRedisService({ lazyConnect: true });
  (storage.redis as { disconnect(): void }).disconnect();
  storage.redis = handle;
  return storage;
}
