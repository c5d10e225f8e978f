import type { Workload } from "../contract/configuration.js";
import type { NodeCounters } from "../contract/diagnosis.js";
import type { StoreFault, StoreFaultAction } from "../contract/probe-env.js";
import type {
  Discovery,
  EvidenceName,
  ProbeReport,
  StoredKeys,
  StoreFeature,
  StoreReading,
} from "../contract/store.js";
import type { StoreAccess } from "../contract/store-url.js";
import type { NodePlace } from "../kit/env.js";
import type { NodeAllocation, StoreDescription, TopologyDescription } from "./store-types.js";

/** How a family of stores is started, formed, emptied and read: one folder in `stores/`. */
export interface StoreEngine {
  id: string;
  /**
   * The port where its servers listen if nothing else is said, for a program that is started by
   * hand.
   */
  defaultPort: number;
  nodeArguments(
    store: StoreDescription,
    topology: TopologyDescription,
    node: NodeAllocation,
  ): string[];
  /**
   * The environment variables of the program of one node. They are absent for one that takes none.
   */
  nodeEnvironment?(node: NodeAllocation): Readonly<Record<string, string>>;
  evidence: readonly EvidenceName[];
  /**
   * Faults that its servers carry out themselves, by `StoreSession.inject`; for the others the
   * reason why they cannot.
   */
  faults: Readonly<Record<Exclude<StoreFaultAction, "free-memory">, true | string>>;
  /**
   * Loads the engine's library and connects to each node, which may still be starting.
   * @param access credentials and encryption of an external store
   */
  connect(
    nodes: readonly NodePlace[],
    access: StoreAccess,
    store?: StoreDescription,
  ): Promise<StoreSession>;
}

/**
 * Connections to all nodes of a store, in the order of roles. Every method that waits ends by the
 * deadline.
 */
export interface StoreSession {
  /**
   * Waits until every node answers and, in a cluster, all of them agree.
   * @throws environmentError with the last problem
   */
  ready(topology: string, deadlineMs: number): Promise<void>;
  /** Forms a cluster of empty nodes. */
  form(topology: string, deadlineMs: number): Promise<void>;
  /**
   * Empties the store and resets its statistics. Only called for a store that the harness has
   * started.
   */
  reset(deadlineMs: number): Promise<void>;
  /**
   * Reads the counters of each node.
   * @param decisionCommands carry the limiter's decisions, by default the commands that run a
   * script
   * @throws environmentError when a node is another store
   */
  read(store: StoreDescription, decisionCommands?: readonly string[]): Promise<StoreReading[]>;
  /**
   * The whole numbers under these keys. It is undefined for a key that there is not. Absent for an
   * engine without keys.
   */
  numbers?(keys: readonly string[]): Promise<(number | undefined)[]>;
  /** The keys that have not ended. They are absent for an engine that does not list them. */
  storedKeys?(): Promise<StoredKeys>;
  /** Takes the end from all keys, as a crash between two commands may. @returns how many had one */
  persistKeys?(): Promise<number>;
  /**
   * More about the commands that carry the limiter's decisions, and the network, of each node. It
   * is absent for an engine that does not tell it.
   * @param decisionCommands as for `read`
   */
  diagnose?(decisionCommands?: readonly string[]): Promise<NodeCounters[]>;
  /** The settings of the running store that can affect a figure. */
  settings(): Promise<Record<string, string>>;
  /**
   * Carries out a fault, or undoes it. It is absent for an engine whose servers carry out none.
   * @throws environmentError when a node refuses
   */
  inject?(fault: StoreFault, deadlineMs: number): Promise<void>;
  /** What the server lacks. It is absent for an engine whose servers are all alike. */
  features?(): Promise<StoreFeature[]>;
  /** Gives the store the keys and the script that an operation of the store layer needs. */
  prepare?(workload: Workload): Promise<NonNullable<ProbeReport["prepared"]>>;
  /**
   * The known modules that every node has loaded, by id, with their versions (empty where a module
   * does not tell it). It is absent for an engine without modules.
   */
  modules?(): Promise<Readonly<Record<string, string>>>;
  /** Detects the type, version, topology and nodes of the store at the first node. */
  discover(): Promise<Discovery>;
  close(): void;
}
