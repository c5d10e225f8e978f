import type { PluginIdentity } from "../../contract/plugins.js";
import type { Target } from "../../contract/target.js";
import type { LimiterIdentity, OpenClient, RequestLimiter } from "../../targets/target-types.js";
import type { ServerConfig } from "../config/index.js";

export interface AppDependencies {
  spec: Pick<ServerConfig["spec"], "run_nonce" | "limits" | "server">;
  target: Target;
  client: Pick<OpenClient, "version" | "settings" | "storeVersion">;
  /** It is undefined where nothing is limited. */
  limiter: (RequestLimiter & LimiterIdentity) | undefined;
  framework: { version: string };
  plugins?: readonly PluginIdentity[];
}
