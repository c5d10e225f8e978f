import { withoutStore } from "./clients/shard-keys.js";
import type { ClientDescription } from "./target-types.js";

/** The stores that a campaign can start for each app. */
export const APP_STORES = ["valkey", "redis", "memcached"] as const;

/**
 * An app as a target: an HTTP server of somebody else, which decides what it likes. The harness
 * opens no client of its own for it.
 */
export const appClient = (id: string): ClientDescription => ({
  id,
  control: false,
  stores: ["none", ...APP_STORES],
  topologies: ["none", "standalone"],
  limiter: "none",
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  autoPipelining: () => "its connections are its own",
  open: async () => withoutStore({ handle: undefined, settings: {} }),
});
