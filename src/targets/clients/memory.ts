import type { ClientDescription } from "../types.js";
import { withoutStore } from "./without-store.js";

/** Control: the limiter without a network, its counters in the server's process. */
export const memory: ClientDescription = {
  id: "memory",
  stores: ["memory"],
  topologies: ["none"],
  control: true,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  limiter: "rate-limiter-flexible",
  flexible: { className: "RateLimiterMemory" },
  autoPipelining: () => "it has no connection",
  open: withoutStore,
};
