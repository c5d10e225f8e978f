import { fastifyRateLimit, servesFastifyRateLimit } from "../limiters/fastify-rate-limit.js";
import type { OptionDescription } from "../types.js";

/** Another limiter on the same client: what a Fastify user reaches for first. */
export const fastifyRateLimitOption: OptionDescription = {
  id: fastifyRateLimit.id,
  summary: "the limiter is @fastify/rate-limit instead of rate-limiter-flexible",
  apply(client) {
    if (!servesFastifyRateLimit(client)) {
      return {
        skip: `${client.id} cannot have +${fastifyRateLimit.id}: its store takes a client with the methods of ioredis`,
      };
    }
    const { flexible: _flexible, sameScript: _sameScript, ...rest } = client;
    const onStores = client.handleApi === "ioredis" ? { stores: bothStores(client.stores) } : {};
    return {
      ...rest,
      ...onStores,
      limiter: fastifyRateLimit.id,
      survivesStoreRestart: true,
      survivesScriptFlush: true,
    };
  },
};

/** Its script runs on either; the default store stays the client's. */
function bothStores([first]: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return first === "redis" ? ["redis", "valkey"] : ["valkey", "redis"];
}
