import { z } from "zod";
import type {
  ClientDescription,
  LimiterDescription,
  OptionDescription,
  StoreDescription,
} from "../targets/target-types.js";
import type { TrafficProfile } from "../traffic/traffic-types.js";

/** Returns a list whose members are checked when they are registered. */
const listOf = <Description>() =>
  z.custom<readonly Description[]>(
    (list) => z.array(z.looseObject({})).safeParse(list).success,
    "must be a list of descriptions",
  );

export const pluginShape = {
  /** Stores that the project's engines can start and read, e.g. a server that speaks RESP. */
  stores: listOf<StoreDescription>().optional(),
  clients: listOf<ClientDescription>().optional(),
  limiters: listOf<LimiterDescription>().optional(),
  /** Options, which are applied after those of the project. */
  options: listOf<OptionDescription>().optional(),
  traffic: listOf<TrafficProfile>().optional(),
};

/** What a plugin's module exports, as `default` or as `plugin`. */
export type Plugin = z.infer<z.ZodObject<typeof pluginShape>>;

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
  LimiterIdentity,
  /** @deprecated The former name of `LimiterIdentity`. */
  LimiterIdentity as LimiterFacts,
  LimiterPair,
  OpenClient,
  OptionDescription,
  RequestLimiter,
  StoreDescription,
  StorePlace,
  Tuning,
} from "../targets/target-types.js";
export type { Descriptors, TrafficProfile } from "../traffic/traffic-types.js";
