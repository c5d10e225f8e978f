import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { HookedRequest, InstallHook, LimiterDescription } from "../target-types.js";
import { inMemory, noBlock, onBothStores, unsupported, withLimiter } from "./library.js";
import { limitersOn, preloaded, redisStore } from "./rate-limit-redis.js";

const PACKAGE = "express-rate-limit";

type Library = typeof import("express-rate-limit");
type Middleware = (request: HookedRequest, reply: Reply, next: () => void) => void;
/** Express parses the query each time that it is read. */
type KeyedRequest = HookedRequest & { limited_key?: string };
type Reply = { status(code: number): Reply; send(body: unknown): unknown };
type Routes = { use(middleware: unknown): void };

export const expressRateLimit: LimiterDescription = {
  id: "express-rate-limit",
  package: PACKAGE,
  onDemand: { name: PACKAGE, version: "8.7.5" },
  framework: "express",
  summary: "the limiter is express-rate-limit, in memory or over rate-limit-redis",
  algorithm: "fixed window",
  atomic: true,
  applyTo(client) {
    if (inMemory(client)) return withLimiter(client, PACKAGE);
    if (client.handleApi === undefined)
      return unsupported(client, PACKAGE, "rate-limit-redis takes ioredis, iovalkey or node-redis");
    const varied = onBothStores(withLimiter(client, PACKAGE));
    // Loading its script on all nodes takes the methods of ioredis.
    return client.handleApi === "ioredis" ? varied : { ...varied, topologies: ["standalone"] };
  },
  takesCost: false,
  unsupportedReason: ({ block_s }) => noBlock(PACKAGE, block_s),
  countKey: (key, keyPrefix) => `${keyPrefix}:${key}`,
  async create(client, description, limits, keyPrefix, libraries) {
    const { rateLimit, MemoryStore } = await libraries.fromFolder<Library>(PACKAGE);
    const prefix = `${keyPrefix}:`;
    const windowMs = limits.window_s * 1_000;
    const redis = inMemory(description)
      ? undefined
      : await redisStore(client, description, limits, prefix, libraries);
    const store = redis ?? new MemoryStore();
    const pair = limitersOn(store, limits);
    const install: InstallHook = async (app: Routes, { keyOf, decided, byAddress }) => {
      const keyOfRequest = (request: KeyedRequest): string => {
        request.limited_key = keyOf(request);
        return request.limited_key;
      };
      app.use(
        rateLimit({
          windowMs,
          store,
          ...definedOnly({ keyGenerator: byAddress ? undefined : keyOfRequest }),
          limit: (request: KeyedRequest) =>
            (byAddress ? keyOfRequest(request) : request.limited_key)?.startsWith(
              EXHAUSTED_KEY_PREFIX,
            )
              ? 0
              : limits.points,
          // A limit of 0 is meant: the warning for each request would cost more than the limiter.
          validate: { limit: false },
          handler: (request, reply, _next, { statusCode, message }) => {
            decided(request, "limited");
            reply.status(statusCode).send(message);
          },
        }),
      );
      const admitted: Middleware = (request, _reply, next) => {
        decided(request, "allowed");
        next();
      };
      app.use(admitted);
    };
    const version = libraries.version(PACKAGE);
    if (!redis) return { version, install, ...pair };
    return { version, install, script: await preloaded(pair, redis, client, prefix), ...pair };
  },
};
