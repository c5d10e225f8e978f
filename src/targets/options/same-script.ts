import type { OptionDescription } from "../types.js";

/**
 * One script for all, so that a client can be told apart from its limiter's script: rate-limiter-flexible's script for
 * Redis, which runs on Valkey as well. A client whose own class sends it already is the same with and without.
 */
export const sameScript: OptionDescription = {
  id: "same-script",
  summary: "the script of RateLimiterRedis, whatever the client's own class is",
  apply: (client) => {
    if (client.sameScript) return { ...client, ...client.sameScript };
    const other = client.limiter === "rate-limiter-flexible" ? "" : ` with the limiter ${client.limiter}`;
    return {
      skip: `${client.id} cannot have +same-script${other}: it runs no script of rate-limiter-flexible`,
    };
  },
};
