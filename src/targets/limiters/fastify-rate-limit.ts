import type { FastifyRequest } from "fastify";
import type { Limits } from "../../contract/configuration.js";
import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { Libraries } from "../libraries.js";
import { ALLOWED, limited } from "../request-limiter.js";
import type {
  ClientDescription,
  HookedRequest,
  InstallHook,
  Limiter,
  LimiterDescription,
} from "../target-types.js";
import {
  inMemory,
  LibraryLimiter,
  noBlock,
  onIoredis,
  preload,
  scriptSha1,
  withLimiter,
} from "./library.js";

const PACKAGE = "@fastify/rate-limit";

/** Capacity of its store in memory; beyond it the least recently used key is dropped. */
const LOCAL_KEYS = 1_000_000;

/** The members of a request that the library reads. */
type LimitedRequest = { key: string; routeOptions: { config?: undefined } };

/**
 * The library's decision. `isAllowed` only says that the key is on an allow list, so it is not
 * read.
 */
interface Answer {
  isExceeded: boolean;
  remaining: number;
  /** Milliseconds until the window ends. */
  ttl: number;
}

type Decide = (request: LimitedRequest) => Promise<Answer>;
type Settings = Readonly<Record<string, unknown>>;

const ROUTE: LimitedRequest["routeOptions"] = Object.freeze({});

const limiterOf = (decide: Decide, limit: number): Limiter =>
  new LibraryLimiter<Answer>(
    (key, cost) =>
      cost === 1
        ? decide({ key, routeOptions: ROUTE })
        : Promise.reject(
            new Error(`${PACKAGE} counts requests: a cost of ${cost} is not possible`),
          ),
    ({ isExceeded, remaining, ttl }) => (isExceeded ? limited(limit, remaining, ttl) : ALLOWED),
  );

const loadPlugin = async (libraries: Libraries) =>
  (await libraries.load(PACKAGE, () => import("@fastify/rate-limit"))).default;

/**
 * Registers the plugin on its own Fastify instance, which never listens, and returns
 * `createRateLimit()`, the function that decides in every use of the library. The limiter layer and
 * requests of several keys need it. It is called without options, because they would change the key
 * prefix.
 */
async function createDecide(libraries: Libraries, settings: Settings): Promise<Decide> {
  const { default: Fastify } = await import("fastify");
  const app = Fastify();
  await app.register(await loadPlugin(libraries), settings);
  return app.createRateLimit() as unknown as Decide;
}

const limiting = ({ window_s }: Limits): Settings => ({
  timeWindow: window_s * 1_000,
  // The library's default: a failing store is an error, not an admitted request.
  skipOnError: false,
});

const servesFastifyRateLimit = (client: ClientDescription): boolean =>
  client.handleApi === "ioredis" || inMemory(client);

export const fastifyRateLimit: LimiterDescription = {
  id: "fastify-rate-limit",
  package: PACKAGE,
  framework: "fastify",
  summary: "the limiter is @fastify/rate-limit instead of rate-limiter-flexible",
  algorithm: "fixed window",
  atomic: true,
  applyTo(client) {
    const varied = onIoredis(client, "fastify-rate-limit");
    if (!("skip" in varied) || !inMemory(client)) return varied;
    return withLimiter(client, "fastify-rate-limit");
  },
  takesCost: false,
  unsupportedReason: ({ block_s }) => noBlock(PACKAGE, block_s),
  countKey: (key, keyPrefix) => `${keyPrefix}:${key}`,
  async create(client, description, limits, prefix, libraries) {
    if (!servesFastifyRateLimit(description))
      throw new Error(`${PACKAGE} has no store for ${description.id}`);
    const keyPrefix = `${prefix}:`;
    const store: Settings = inMemory(description)
      ? { cache: LOCAL_KEYS }
      : { redis: client.handle, nameSpace: keyPrefix };
    const settings = { ...store, ...limiting(limits) };
    const keyGenerator = (request: LimitedRequest) => request.key;
    const make = async (max: number): Promise<Limiter> =>
      limiterOf(
        await createDecide(libraries, { ...settings, global: false, keyGenerator, max }),
        limits.points,
      );
    const install: InstallHook = async (app, { keyOf, decided, byAddress }) =>
      app.register(await loadPlugin(libraries), {
        ...settings,
        ...definedOnly({ keyGenerator: byAddress ? undefined : keyOf }),
        max: (request: HookedRequest, key: string) => {
          if (byAddress) keyOf(request);
          return key.startsWith(EXHAUSTED_KEY_PREFIX) ? 0 : limits.points;
        },
        onExceeding: (request: FastifyRequest) => decided(request, "allowed"),
        onExceeded: (request: FastifyRequest) => decided(request, "limited"),
      });
    // With a limit of 0 the first consume exceeds it, by the same script and commands as any other.
    const pair = { standard: await make(limits.points), exhausted: await make(0), install };
    const version = libraries.version(PACKAGE);
    if (inMemory(description)) return { version, ...pair };
    const handle = client.handle as { del(key: string): Promise<number> };
    await preload([pair.standard, pair.exhausted], await client.shardKeys(), (key) =>
      handle.del(keyPrefix + key),
    );
    // The hash of the script that `incr` runs.
    const sha1 = await scriptSha1(
      PACKAGE,
      (redis) => createDecide(libraries, { redis }),
      "rateLimit",
    );
    return { version, script: { kind: "evalsha", name_or_sha1: sha1 }, ...pair };
  },
};
