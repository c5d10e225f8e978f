import type { PluginFacts } from "../../contract/plugins.js";
import type { OpenClient } from "../../targets/types.js";
import type { ServerConfig } from "../config/index.js";
import type { RateLimiters } from "./rateLimiterFactory.js";

/** All that the app needs; tests give their own. */
export interface AppParts {
  config: Pick<ServerConfig, "target" | "limits" | "complexity" | "runNonce" | "logLevel">;
  client: Pick<OpenClient, "version" | "settings" | "storeVersion">;
  /** Undefined: nothing is limited. */
  limiters: RateLimiters | undefined;
  /** What was loaded beside the project's own. */
  plugins?: readonly PluginFacts[];
}
