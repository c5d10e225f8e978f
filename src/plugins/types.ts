import type { ClientDescription, LimiterDescription, OptionDescription } from "../targets/types.js";
import type { TrafficProfile } from "../traffic/types.js";

/** What a plugin's module exports, as `default` or as `plugin`. */
export interface Plugin {
  clients?: readonly ClientDescription[];
  limiters?: readonly LimiterDescription[];
  /** Applied after the project's own. */
  options?: readonly OptionDescription[];
  traffic?: readonly TrafficProfile[];
}

export type { Limits } from "../contract/configuration.js";
export type { ClientSettings, LimiterScript } from "../contract/server-api.js";
export type { StoreAccess } from "../contract/store-url.js";
export type {
  ClientDescription,
  Decision,
  FlexibleUse,
  Libraries,
  Limiter,
  LimiterDescription,
  LimiterPair,
  OpenClient,
  OptionDescription,
  StorePlace,
  Tuning,
} from "../targets/types.js";
export type { Descriptors, TrafficProfile } from "../traffic/types.js";
