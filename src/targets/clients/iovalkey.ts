import { ownLibraries } from "../libraries.js";
import type { ClientDescription } from "../types.js";
import { ioredisFamily, openIoredis } from "./ioredis-family.js";

const PACKAGE = "iovalkey";

export const iovalkey: ClientDescription = {
  id: "iovalkey",
  package: PACKAGE,
  stores: ["valkey"],
  ...ioredisFamily,
  flexible: { className: "RateLimiterValkey", script: { kind: "evalsha" } },
  sameScript: {
    stores: ["valkey", "redis"],
    flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
  },
  async open(place, tuning = {}) {
    const { libraries = ownLibraries, settings } = tuning;
    const { Cluster, Command, Redis } = await libraries.load(PACKAGE, () => import("iovalkey"));
    // The fallback may look up the other address family on each reconnection, which only causes a delay.
    const shared = settings ? {} : { familyFallback: { enabled: false } };
    return openIoredis(
      {
        version: libraries.version(PACKAGE),
        Command,
        standalone: (options) => new Redis({ ...options, ...shared }),
        cluster: (nodes, options) =>
          new Cluster(nodes, { ...options, redisOptions: { ...options.redisOptions, ...shared } }),
      },
      place,
      tuning,
    );
  },
};
