import type { Limits } from "../contract/configuration.js";
import type { Node } from "../contract/env.js";
import type { ClientSettings } from "../contract/server-api.js";

/** Where a client shall connect: one node for standalone, any number of seeds for a cluster. */
export interface StorePlace {
  store: string;
  topology: string;
  nodes: readonly Node[];
}

/** A connected client. It is ready: the first consume does not wait for a connection. */
export interface OpenClient {
  /** The library's own object; the limiter knows what it is from `ClientDescription.limiterClass`. */
  handle: unknown;
  /** Version of the library as loaded, absent where there is none. */
  version?: string;
  /** Settings that matter, with units in their names: what was really passed to the library. */
  settings: ClientSettings;
  /**
   * Version of the store as it answers now; absent where there is no store.
   * @throws Error when the store does not answer, or is not the kind of store that was asked for
   */
  storeVersion(): Promise<string | undefined>;
  /** One key for each primary (hash-tagged): consumes on all of them reach every shard. */
  shardKeys(): Promise<readonly string[]>;
  /** Ends all connections and leaves no handle behind; never rejects because the store is gone. */
  close(): Promise<void>;
}

/** A Node library that talks to the store: one file in `clients/`, one line in its list. */
export interface ClientDescription {
  id: string;
  /** npm package; absent for the controls. */
  package?: string;
  /** Stores it can work with under rate-limiter-flexible's own class; the first is the default. */
  stores: readonly [string, ...string[]];
  topologies: readonly [string, ...string[]];
  /** A control measures the harness rather than a client; it is reported beside the clients, never ranked. */
  control: boolean;
  /** Whether its limiter works again by itself once a store that restarted is back. */
  survivesStoreRestart: boolean;
  /** Id of the limiter that decides; `none` admits all. */
  limiter: string;
  /** rate-limiter-flexible's class for this client, e.g. `RateLimiterValkey`. */
  limiterClass?: string;
  /** Loads the library and connects. @throws Error when the store cannot be reached */
  open(place: StorePlace): Promise<OpenClient>;
}

export type Decision =
  | { outcome: "allowed" }
  | { outcome: "limited"; limit: number; remaining: number; msBeforeNext: number }
  | { outcome: "failed"; error: Error };

/** Decides on one key. Never rejects: a store that fails is the outcome `failed`. */
export interface Limiter {
  consume(key: string): Promise<Decision>;
}

export interface LimiterDescription {
  id: string;
  package?: string;
  /**
   * Two limiters over one client: `standard` with the given limits, `exhausted` with 0 points, at the same
   * cost for the store. Scripts are loaded when it resolves, and no key is left behind.
   */
  create(
    client: OpenClient,
    description: ClientDescription,
    limits: Limits,
  ): Promise<{ version?: string; standard: Limiter; exhausted: Limiter } | undefined>;
}

/** How a store program is started and read: one file in `stores/`, one line in its list. */
export interface StoreDescription {
  id: string;
  /** Program name on PATH, and image for containers; absent where the store lives in the server's process. */
  program?: string;
  image?: string;
  /** The version's field in `INFO server`. */
  versionField: string;
  /** Arguments of one node, without address and folder, which are the runtime's. */
  arguments: readonly string[];
  /** Commands whose calls are the limiter's script calls, as `INFO commandstats` names them. */
  scriptCommands: readonly string[];
}

/** How many nodes, and how they are bound together. */
export interface TopologyDescription {
  id: string;
  primaries: number;
  replicas: number;
  /** Arguments of one node that makes it fit for the topology. */
  nodeArguments: readonly string[];
}
