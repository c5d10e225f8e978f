import type { ClientDescription } from "../types.js";
import { ioredisFamily, openIoredis } from "./ioredis-family.js";

const library = {
  package: "iovalkey",
  load: () => import("iovalkey"),
  // The fallback may look up the other address family on each reconnection, which only causes a delay.
  always: { familyFallback: { enabled: false } },
};

export const iovalkey: ClientDescription = {
  id: "iovalkey",
  package: library.package,
  stores: ["valkey"],
  ...ioredisFamily,
  flexible: { className: "RateLimiterValkey", script: { kind: "evalsha" } },
  sameScript: {
    stores: ["valkey", "redis"],
    flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
  },
  open: (place, tuning) => openIoredis(library, place, tuning),
};
