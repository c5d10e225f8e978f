import { ownLibraries } from "../libraries.js";
import type { ClientDescription } from "../types.js";
import { openFamily } from "./ioredis-family.js";

const PACKAGE = "ioredis";

export const ioredis: ClientDescription = {
  id: "ioredis",
  package: PACKAGE,
  stores: ["redis", "valkey"],
  topologies: ["standalone", "cluster"],
  control: false,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  limiter: "rate-limiter-flexible",
  handleApi: "ioredis",
  flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
  // It is this client's own.
  sameScript: {},
  autoPipelining: () => true,
  async open(place, tuning = {}) {
    const { libraries = ownLibraries } = tuning;
    const { Cluster, Redis } = await libraries.load(PACKAGE, () => import("ioredis"));
    return openFamily(
      {
        version: libraries.version(PACKAGE),
        // It speaks RESP3 unless told; iovalkey knows RESP2 alone, and a comparison needs one protocol.
        standalone: (options) => new Redis({ ...options, protocol: 2 }),
        cluster: (nodes, options) =>
          new Cluster(nodes, { ...options, redisOptions: { ...options.redisOptions, protocol: 2 } }),
      },
      place,
      tuning,
    );
  },
};
