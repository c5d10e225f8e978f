import type { ModuleDescription } from "../types.js";
import { type Module, moduleLimiter } from "./module-limiter.js";

const module: ModuleDescription = {
  id: "redis-shield",
  variable: "REDIS_SHIELD_MODULE",
  name: "SHIELD",
  command: "SHIELD.absorb",
  stores: ["redis", "valkey"],
  remedy:
    "give --program redis-shield=/path/to/libredis_shield.so or set REDIS_SHIELD_MODULE; docs/clients.md says how to get the file",
};

/** A bucket of N whole tokens that W seconds refill. The reply is the number of tokens that are left, -1 for a denial. */
export const redisShield: Module = {
  module,
  limiter: moduleLimiter(module, {
    summary: "the limiter is the module redis-shield in the store",
    algorithm: "token bucket",
    parameters: ({ points, window_s }, cost) => [points, window_s, cost],
    read(reply, { points, window_s }, cost) {
      if (typeof reply !== "number") throw new Error(`not a reply of SHIELD.absorb: ${reply}`);
      return {
        isAllowed: reply >= 0,
        // A denial tells neither what is left nor when to come again: this long the cost takes at most.
        remaining: Math.max(0, reply),
        msBeforeNext: Math.ceil(1_000 * window_s * Math.min(1, cost / points)),
      };
    },
  }),
};
