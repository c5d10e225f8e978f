import type { OpenClient } from "../../targets/types.js";
import type { ServerConfig } from "../config/index.js";
import type { RateLimiters } from "./rateLimiterFactory.js";

/** All that the app needs; tests give their own. */
export interface AppParts {
  config: Pick<ServerConfig, "target" | "limits" | "complexity" | "runNonce" | "logLevel">;
  client: Pick<OpenClient, "version" | "settings" | "storeVersion">;
  /** Undefined: nothing is limited. */
  limiters: RateLimiters | undefined;
}
