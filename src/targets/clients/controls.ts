import type { ClientDescription, OpenClient } from "../types.js";
import { singleShardKeys } from "./shard-keys.js";

/** Controls measure the harness and connect to no store. */
const control = {
  topologies: ["none"],
  control: true,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  autoPipelining: () => "it has no connection",
  open: async (): Promise<OpenClient> => ({
    handle: undefined,
    settings: {},
    storeVersion: async () => undefined,
    shardKeys: singleShardKeys,
    close: async () => undefined,
  }),
} as const;

/** No limiter at all. What it costs is what the harness costs. */
export const none: ClientDescription = { id: "none", stores: ["none"], limiter: "none", ...control };

/** The limiter without a network, its counters in the server's process. */
export const memory: ClientDescription = {
  id: "memory",
  stores: ["memory"],
  limiter: "rate-limiter-flexible",
  flexible: { className: "RateLimiterMemory" },
  ...control,
};
