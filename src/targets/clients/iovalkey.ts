import { ownLibraries } from "../libraries.js";
import type { ClientDescription } from "../types.js";
import { openIoredis } from "./ioredis-family.js";

const PACKAGE = "iovalkey";

export const iovalkey: ClientDescription = {
  id: "iovalkey",
  package: PACKAGE,
  stores: ["valkey"],
  topologies: ["standalone", "cluster", "cluster-3"],
  control: false,
  canSkipHandshake: true,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  limiter: "rate-limiter-flexible",
  handleApi: "ioredis",
  flexible: { className: "RateLimiterValkey", script: { kind: "evalsha" } },
  sameScript: {
    stores: ["valkey", "redis"],
    flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
  },
  ownSettings: {
    defaults: { sendsAgain: true, waitsForStore: true },
    tuned: { sendsAgain: true },
  },
  autoPipelining: () => true,
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
