import { moduleLimiters } from "../modules/index.js";
import type { LimiterDescription } from "../target-types.js";
import { asyncRatelimiter } from "./async-ratelimiter.js";
import { envoyLimiter } from "./envoy-ratelimit.js";
import { expressRateLimit } from "./express-rate-limit.js";
import { fastifyRateLimit } from "./fastify-rate-limit.js";
import { gubernatorLimiters } from "./gubernator.js";
import { nestjsThrottler } from "./nestjs-throttler.js";
import { rateLimitRedis } from "./rate-limit-redis.js";
import { flexibleWays, rateLimiterFlexible } from "./rate-limiter-flexible.js";
import { redisGcra } from "./redis-gcra.js";
import { throttlecrabLimiter } from "./throttlecrab.js";
import { upstash } from "./upstash.js";

/** Admits every request: the server then has no limiter on its routes. */
const none: LimiterDescription = { id: "none", create: async () => undefined };

export const limiters: readonly LimiterDescription[] = [
  rateLimiterFlexible,
  fastifyRateLimit,
  expressRateLimit,
  nestjsThrottler,
  ...flexibleWays,
  rateLimitRedis,
  redisGcra,
  asyncRatelimiter,
  ...upstash,
  ...moduleLimiters,
  throttlecrabLimiter,
  ...gubernatorLimiters,
  envoyLimiter,
  none,
];
