import type { ClientDescription } from "../types.js";
import { ioredisFamily, openIoredis } from "./ioredis-family.js";

const library = {
  package: "ioredis",
  load: () => import("ioredis"),
  // The default is RESP3, but iovalkey has only RESP2, and a comparison needs one protocol.
  always: { protocol: 2 },
};

export const ioredis: ClientDescription = {
  id: "ioredis",
  package: library.package,
  stores: ["redis", "valkey"],
  ...ioredisFamily,
  flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
  // Its class runs this script anyway.
  sameScript: {},
  open: (place, tuning) => openIoredis(library, place, tuning),
};
