import type { LimiterDescription } from "../types.js";
import { fastifyRateLimit } from "./fastify-rate-limit.js";
import { none } from "./none.js";
import { rateLimiterFlexible } from "./rate-limiter-flexible.js";

export const limiters: readonly LimiterDescription[] = [rateLimiterFlexible, fastifyRateLimit, none];
