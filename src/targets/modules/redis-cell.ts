import type { ModuleDescription } from "../types.js";
import { type Module, moduleLimiter } from "./module-limiter.js";

const module: ModuleDescription = {
  id: "redis-cell",
  variable: "REDIS_CELL_MODULE",
  name: "redis-cell",
  command: "cl.throttle",
  stores: ["redis", "valkey"],
  remedy:
    "give --program redis-cell=/path/to/libredis_cell.so or set REDIS_CELL_MODULE; docs/clients.md says how to get the file",
};

/** `[limited, limit, remaining, retry_after, reset]`: times in seconds, `retry_after` is -1 where waiting does not help. */
type Reply = [limited: number, limit: number, remaining: number, retryAfter: number, reset: number];

/** N points per W seconds are a burst of N - 1 beyond the first, refilled with N points each W seconds. */
export const redisCell: Module = {
  module,
  limiter: moduleLimiter(module, {
    summary: "the limiter is the module redis-cell in the store",
    algorithm: "GCRA",
    parameters: ({ points, window_s }, cost) => [points - 1, points, window_s, cost],
    read(reply, { points }) {
      if (!Array.isArray(reply) || reply.length !== 5)
        throw new Error(`not a reply of cl.throttle: ${reply}`);
      const [limited, , remaining, retryAfter, reset] = reply as Reply;
      return {
        isAllowed: limited === 0,
        // Beyond a million points a second the module does not know what is left.
        remaining: Math.min(remaining, points),
        msBeforeNext: 1_000 * (retryAfter >= 0 ? retryAfter : reset),
      };
    },
  }),
};
