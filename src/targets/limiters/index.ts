import { moduleLimiters } from "../modules/index.js";
import type { LimiterDescription } from "../types.js";
import { fastifyRateLimit } from "./fastify-rate-limit.js";
import { rateLimiterFlexible } from "./rate-limiter-flexible.js";

/** Admits every request: the server then has no limiter on its routes. */
const none: LimiterDescription = { id: "none", create: async () => undefined };

export const limiters: readonly LimiterDescription[] = [
  rateLimiterFlexible,
  fastifyRateLimit,
  ...moduleLimiters,
  none,
];
