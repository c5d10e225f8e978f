import type { Limits } from "../contract/configuration.js";
import type { Node } from "../contract/env.js";
import type { ClientSettings, LimiterScript } from "../contract/server-api.js";
import type { StoreAccess } from "../contract/store-url.js";
import type { Libraries } from "./libraries.js";

export type { Libraries } from "./libraries.js";

/** Where a client shall connect: one node for standalone, any number of seeds for a cluster. */
export interface StorePlace {
  store: string;
  topology: string;
  nodes: readonly Node[];
  /** How to get in, for a store that somebody else runs. */
  access?: StoreAccess;
}

/** What a target asks of the connection itself; a client reads what it has a setting for. */
export interface Tuning {
  /** Where the library is loaded from; absent for the project's own. */
  libraries?: Libraries;
  /** Commands of one turn of the event loop are sent as one pipeline. */
  autoPipelining?: boolean;
}

/** A connected client. It is ready: the first consume does not wait for a connection. */
export interface OpenClient {
  /** The library's own object; the limiter knows what it is from `ClientDescription.flexible`. */
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
  /** npm package, which a version can be asked of; absent for the controls. */
  package?: string;
  /** Stores that its limiter's script runs on; the first is the default. */
  stores: readonly [string, ...string[]];
  topologies: readonly [string, ...string[]];
  /** A control measures the harness rather than a client; it is reported beside the clients, never ranked. */
  control: boolean;
  /** Whether its limiter works again by itself once a store that restarted is back. */
  survivesStoreRestart: boolean;
  /** Whether its limiter goes on by itself after SCRIPT FLUSH and FUNCTION FLUSH. */
  survivesScriptFlush: boolean;
  /** Id of the limiter that decides; `none` admits all. */
  limiter: string;
  /** How rate-limiter-flexible works with this client; absent where it does not. */
  flexible?: FlexibleUse;
  /** Whose methods `handle` has, for limiters that are handed a library's object; absent for its own alone. */
  handleApi?: "ioredis";
  /** What is different under `+same-script`; absent for a client that runs no script. */
  sameScript?: Partial<ClientDescription>;
  /** Whether `+autopipelining` has something to switch on in a topology: true, or the reason why it has not. */
  autoPipelining(topology: string): true | string;
  /** Loads the library and connects. @throws Error when the store cannot be reached */
  open(place: StorePlace, tuning?: Tuning): Promise<OpenClient>;
}

/** A class of rate-limiter-flexible, and what it is given beside the client, the key prefix and the limits. */
export interface FlexibleUse {
  /** E.g. `RateLimiterValkey`. */
  className: string;
  options?: Readonly<Record<string, unknown>>;
  /** How its script reaches the store; absent for a class without one. */
  script?: { kind: "eval" | "evalsha" } | { kind: "fcall"; function: string };
}

/** A variation of a client, `+id` in a target's text: one file in `options/`, one line in its list. */
export interface OptionDescription {
  id: string;
  /** What it changes, in one line. */
  summary: string;
  /** The client under this option in a topology, or the reason why the client cannot have it there. */
  apply(client: ClientDescription, topology: string): ClientDescription | { skip: string };
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
  /** Why it cannot keep these limits, as the reason of a skip; absent for one that can keep any. */
  lacks?(limits: Limits): string | undefined;
  /**
   * Two limiters over one client: `standard` with the given limits, `exhausted` with 0 points, at the same
   * cost for the store. Scripts are loaded when it resolves, and no key is left behind.
   * @param libraries where the limiter's library is loaded from; the project's own unless given
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
  /** Of the limiter's library. */
  version?: string;
  /** The script that both run; absent for a limiter without one. */
  script?: LimiterScript;
  standard: Limiter;
  exhausted: Limiter;
}

/** How a store program is started and read: one file in `stores/`, one line in its list. */
export interface StoreDescription {
  id: string;
  /** Absent where the store lives in the server's process. */
  program?: string;
  /** The image that holds the program, and the variable that names another one. */
  image?: { name: string; variable: string };
  /** The version's field in `INFO server`. */
  versionField: string;
  /** The file in the project's folder with its settings; address and folder are the runtime's. */
  conf?: string;
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
