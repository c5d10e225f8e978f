import type {
  ClientDescription,
  LimiterDescription,
  OptionDescription,
  StoreDescription,
} from "../targets/types.js";
import type { TrafficProfile } from "../traffic/types.js";

/** What a plugin's module exports, as `default` or as `plugin`. */
export interface Plugin {
  /** Stores that the project's engines can start and read, e.g. a server that speaks RESP. */
  stores?: readonly StoreDescription[];
  clients?: readonly ClientDescription[];
  limiters?: readonly LimiterDescription[];
  /** Applied after the project's own. */
  options?: readonly OptionDescription[];
  traffic?: readonly TrafficProfile[];
}

export type { Limits } from "../contract/configuration.js";
export type { ClientSettings, LimiterScript } from "../contract/server-api.js";
export type { EvidenceName } from "../contract/store.js";
export type { StoreAccess } from "../contract/store-url.js";
export type {
  ClientDescription,
  Decision,
  FlexibleUse,
  Libraries,
  Limiter,
  LimiterDescription,
  LimiterFacts,
  LimiterPair,
  OpenClient,
  OptionDescription,
  RequestLimiter,
  StoreDescription,
  StorePlace,
  Tuning,
} from "../targets/types.js";
export type { Descriptors, TrafficProfile } from "../traffic/types.js";
