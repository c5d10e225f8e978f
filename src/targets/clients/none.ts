import type { ClientDescription } from "../types.js";
import { withoutStore } from "./without-store.js";

/** Control: no limiter at all. What it costs is what the harness costs. */
export const none: ClientDescription = {
  id: "none",
  stores: ["none"],
  topologies: ["none"],
  control: true,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  limiter: "none",
  autoPipelining: () => "it has no connection",
  open: withoutStore,
};
