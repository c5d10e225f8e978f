import { ownLibraries } from "../libraries.js";
import type { ClientDescription } from "../types.js";
import { ioredisFamily, openIoredis } from "./ioredis-family.js";

const PACKAGE = "ioredis";

export const ioredis: ClientDescription = {
  id: "ioredis",
  package: PACKAGE,
  stores: ["redis", "valkey"],
  ...ioredisFamily,
  flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
  // Its class runs this script anyway.
  sameScript: {},
  async open(place, tuning = {}) {
    const { libraries = ownLibraries, settings } = tuning;
    // The default is RESP3, but iovalkey has only RESP2, and a comparison needs one protocol.
    const shared = settings ? {} : ({ protocol: 2 } as const);
    const { Cluster, Command, Redis } = await libraries.load(PACKAGE, () => import("ioredis"));
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
