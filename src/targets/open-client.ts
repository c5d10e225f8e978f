import type { ServiceSpec } from "../contract/run-spec.js";
import type { ClientSettings } from "../contract/server-api.js";
import type { StoreAccess } from "../contract/store-url.js";
import type { NodePlace } from "../kit/env.js";
import type { Libraries } from "./libraries.js";

/** Where a client connects: one node for standalone, any number of seed nodes for a cluster. */
export interface StorePlace {
  store: string;
  topology: string;
  nodes: readonly NodePlace[];
  /** The credentials and encryption of an external store. */
  access?: StoreAccess;
  /** The service between client and store. It is absent where there is none. */
  service?: ServiceSpec;
}

/**
 * Where the settings of a connection come from if not from those that all clients share: `defaults`
 * are the library's own, `tuned` are what its maintainers recommend.
 */
export type OwnSettings = "defaults" | "tuned";

/** Settings of the connection that a target asks for; a client reads those that it supports. */
export interface Tuning {
  /** Where the library is loaded from. It is absent for the project's own version. */
  libraries?: Libraries;
  /** Commands of one turn of the event loop are sent as one pipeline. */
  autoPipelining?: boolean;
  /** Absent: the settings that all clients share. */
  settings?: OwnSettings;
  /**
   * The server knows no command but the limiter's, and counts all of them: none may be sent to
   * open, check, keep or identify the connection.
   */
  skipsHandshake?: boolean;
}

/**
 * A connected client that is ready for commands: the first consume does not wait for a connection.
 */
export interface OpenClient {
  /** The library's own object; `ClientDescription.flexible` says what the limiter does with it. */
  handle: unknown;
  /** Version of the library as loaded, absent where there is none. */
  version?: string;
  /** The settings that were passed to the library, with units in their names. */
  settings: ClientSettings;
  /**
   * Asks the store for its version. It is undefined where there is no store.
   * @throws Error when the store does not answer, or is not the requested kind of store
   */
  storeVersion(): Promise<string | undefined>;
  /**
   * Sends a command that declares no keys to the node that holds `key`, in a cluster, too. Absent
   * for a client of a store that does not speak RESP.
   */
  command?(
    key: string,
    name: string,
    ...parameters: readonly (string | number)[]
  ): Promise<unknown>;
  /**
   * One key for each primary (hash-tagged). Consumes on all these keys reach every shard.
   */
  shardKeys(): Promise<readonly string[]>;
  /** Closes all connections and leaves no handle open; does not reject when the store is gone. */
  close(): Promise<void>;
}
