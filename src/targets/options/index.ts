import type { OptionDescription } from "../types.js";
import { autopipelining } from "./autopipelining.js";
import { fastifyRateLimitOption } from "./fastify-rate-limit.js";
import { sameScript } from "./same-script.js";

/**
 * In the order in which they are applied: one that replaces the limiter comes first, since others are about a limiter;
 * then one that replaces how a client opens, before those that add to it.
 */
export const options: readonly OptionDescription[] = [fastifyRateLimitOption, sameScript, autopipelining];
