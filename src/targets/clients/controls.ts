import type { ClientDescription } from "../target-types.js";
import { withoutStore } from "./shard-keys.js";

/** The properties that controls share. They measure the harness and connect to no store. */
const control = {
  topologies: ["none"],
  control: true,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  autoPipelining: () => "it has no connection",
  open: async () => withoutStore({ handle: undefined, settings: {} }),
} as const;

export const none: ClientDescription = {
  id: "none",
  stores: ["none"],
  limiter: "none",
  ...control,
};

/** The limiter without a network, its counters in the server's process. */
export const memory: ClientDescription = {
  id: "memory",
  stores: ["memory"],
  limiter: "rate-limiter-flexible",
  flexible: { className: "RateLimiterMemory" },
  ...control,
};
