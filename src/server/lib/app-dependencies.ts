import type { PluginFacts } from "../../contract/plugins.js";
import type { OpenClient } from "../../targets/types.js";
import type { ServerConfig } from "../config/index.js";
import type { RateLimiters } from "./rateLimiterFactory.js";

/** Everything that the app needs; tests pass their own. */
export interface AppDependencies {
  config: Pick<ServerConfig, "target" | "limits" | "complexity" | "runNonce" | "logLevel">;
  client: Pick<OpenClient, "version" | "settings" | "storeVersion">;
  /** Undefined: nothing is limited. */
  limiters: RateLimiters | undefined;
  /** Loaded plugins. */
  plugins?: readonly PluginFacts[];
}
