import type { Limits } from "../contract/configuration.js";
import type { Node } from "../contract/env.js";
import type { ClientSettings, LimiterScript } from "../contract/server-api.js";
import type { StoreAccess } from "../contract/store-url.js";
import type { Libraries } from "./libraries.js";

export type { Libraries } from "./libraries.js";

/** Where a client connects: one node for standalone, any number of seed nodes for a cluster. */
export interface StorePlace {
  store: string;
  topology: string;
  nodes: readonly Node[];
  /** Credentials and encryption of an external store. */
  access?: StoreAccess;
}

/** Settings of the connection that a target asks for; a client reads those that it supports. */
export interface Tuning {
  /** Where the library is loaded from; absent for the project's own version. */
  libraries?: Libraries;
  /** Commands of one turn of the event loop are sent as one pipeline. */
  autoPipelining?: boolean;
}

/** A connected client that is ready for commands: the first consume does not wait for a connection. */
export interface OpenClient {
  /** The library's own object; `ClientDescription.flexible` says what the limiter does with it. */
  handle: unknown;
  /** Version of the library as loaded, absent where there is none. */
  version?: string;
  /** The settings that were passed to the library, with units in their names. */
  settings: ClientSettings;
  /**
   * Asks the store for its version; undefined where there is no store.
   * @throws Error when the store does not answer, or is not the requested kind of store
   */
  storeVersion(): Promise<string | undefined>;
  /** One key for each primary (hash-tagged): consumes on all these keys reach every shard. */
  shardKeys(): Promise<readonly string[]>;
  /** Closes all connections and leaves no handle open; does not reject when the store is gone. */
  close(): Promise<void>;
}

/** A Node library that talks to the store: one file in `clients/` and one line in its list. */
export interface ClientDescription {
  id: string;
  /** npm package, of which other versions can be requested; absent for the controls. */
  package?: string;
  /** Stores that its limiter's script runs on; the first is the default. */
  stores: readonly [string, ...string[]];
  topologies: readonly [string, ...string[]];
  /** A control measures the harness, not a client; it is reported beside the clients and never ranked. */
  control: boolean;
  /** Whether its limiter recovers by itself after the store has restarted. */
  survivesStoreRestart: boolean;
  /** Whether its limiter recovers by itself after SCRIPT FLUSH and FUNCTION FLUSH. */
  survivesScriptFlush: boolean;
  /** Id of its limiter; `none` admits all. */
  limiter: string;
  /** How rate-limiter-flexible works with this client; absent where it does not. */
  flexible?: FlexibleUse;
  /** Set when `handle` has the methods of that library, for limiters that take such an object. */
  handleApi?: "ioredis";
  /** The members that `+same-script` replaces; absent for a client that runs no script. */
  sameScript?: Partial<ClientDescription>;
  /** Whether `+autopipelining` can be switched on in a topology: true, or the reason why not. */
  autoPipelining(topology: string): true | string;
  /** Loads the library and connects. @throws Error when the store cannot be reached */
  open(place: StorePlace, tuning?: Tuning): Promise<OpenClient>;
}

/** A class of rate-limiter-flexible, and its options beside the client, the key prefix and the limits. */
export interface FlexibleUse {
  /** E.g. `RateLimiterValkey`. */
  className: string;
  options?: Readonly<Record<string, unknown>>;
  /** How its script reaches the store; absent for a class without one. */
  script?: { kind: "eval" | "evalsha" } | { kind: "fcall"; function: string };
}

/** A variation of a client, `+id` in a target's text: one entry in `options.ts`. */
export interface OptionDescription {
  id: string;
  /** One line that says what it changes. */
  summary: string;
  /** The client with this option in a topology, or the reason why the client does not support it there. */
  apply(client: ClientDescription, topology: string): ClientDescription | { skip: string };
}

export type Decision =
  | { outcome: "allowed" }
  | { outcome: "limited"; limit: number; remaining: number; msBeforeNext: number }
  | { outcome: "failed"; error: Error };

/** Decides on one key. Never rejects: when the store fails, the outcome is `failed`. */
export interface Limiter {
  consume(key: string): Promise<Decision>;
}

export interface LimiterDescription {
  id: string;
  package?: string;
  /** Why it cannot keep these limits, as the reason of a skip; absent for a limiter that can keep any. */
  unsupportedReason?(limits: Limits): string | undefined;
  /** @deprecated The former name of `unsupportedReason`. */
  lacks?(limits: Limits): string | undefined;
  /**
   * Makes two limiters on one client: `standard` with the given limits, and `exhausted` with 0 points at the same cost
   * for the store. When it resolves, scripts are loaded and no key is left in the store.
   * @param libraries where the limiter's library is loaded from; by default the project's own version
   */
  create(
    client: OpenClient,
    description: ClientDescription,
    limits: Limits,
    keyPrefix?: string,
    libraries?: Libraries,
  ): Promise<LimiterPair | undefined>;
}

export interface LimiterPair {
  /** Version of the limiter's library. */
  version?: string;
  /** The script that both run; absent for a limiter without a script. */
  script?: LimiterScript;
  standard: Limiter;
  exhausted: Limiter;
}

/** How a store program is started and read: one entry in `stores/index.ts`. */
export interface StoreDescription {
  id: string;
  /** Absent for a store in the server's process. */
  program?: string;
  /** The image with the program, and the environment variable that overrides it. */
  image?: { name: string; variable: string };
  /** Field of `INFO server` that holds the version. */
  versionField: string;
  /** Its configuration file in the project's folder, without address and working folder, which the runtime sets. */
  conf?: string;
  /** Commands that carry the limiter's script calls, as `INFO commandstats` names them. */
  scriptCommands: readonly string[];
}

/** Number of nodes, and how they are connected. */
export interface TopologyDescription {
  id: string;
  primaries: number;
  replicas: number;
  /** Arguments of the store program that the topology needs. */
  nodeArguments: readonly string[];
}
