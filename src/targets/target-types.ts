import { z } from "zod";
import type { Limits, Workload } from "../contract/configuration.js";
import type { NodeCounters } from "../contract/diagnosis.js";
import type { PackageVersion } from "../contract/library-versions.js";
import { functionOf, lineSchema, type Shaped } from "../contract/plugins.js";
import type { StoreFault, StoreFaultAction } from "../contract/probe-env.js";
import type { ServiceSpec } from "../contract/run-spec.js";
import type { ClientSettings, Consumes, LimiterScript } from "../contract/server-api.js";
import type { ServiceReading } from "../contract/service.js";
import {
  type Discovery,
  type EvidenceName,
  evidenceNames,
  type ProbeReport,
  type StoredKeys,
  type StoreFeature,
  type StoreReading,
} from "../contract/store.js";
import type { StoreAccess } from "../contract/store-url.js";
import { algorithms, idSchema } from "../contract/target.js";
import type { Node } from "../kit/env.js";
import type { GrpcMethod } from "./clients/grpc-method.js";
import type { Libraries } from "./libraries.js";

export type { Libraries } from "./libraries.js";

/** Where a client connects: one node for standalone, any number of seed nodes for a cluster. */
export interface StorePlace {
  store: string;
  topology: string;
  nodes: readonly Node[];
  /** Credentials and encryption of an external store. */
  access?: StoreAccess;
  /** The service between client and store; absent where there is none. */
  service?: ServiceSpec;
}

/**
 * Where the settings of a connection come from if not from those that all clients share: `defaults`
 * are the library's own, `tuned` are what its maintainers recommend.
 */
export type OwnSettings = "defaults" | "tuned";

/** Settings of the connection that a target asks for; a client reads those that it supports. */
export interface Tuning {
  /** Where the library is loaded from; absent for the project's own version. */
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
   * Asks the store for its version; undefined where there is no store.
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
  /** One key for each primary (hash-tagged): consumes on all these keys reach every shard. */
  shardKeys(): Promise<readonly string[]>;
  /** Closes all connections and leaves no handle open; does not reject when the store is gone. */
  close(): Promise<void>;
}

const words = z.array(z.string().min(1)).readonly();
/** Ids of which the first is the default. */
const ids = z.tuple([idSchema], idSchema, "must be a list of ids").readonly();

const flexibleSchema = z.strictObject({
  /** E.g. `RateLimiterValkey`. */
  className: z.string().min(1),
  options: z.record(z.string(), z.unknown()).readonly().optional(),
  /** How its script reaches the store; absent for a class without one. */
  script: z
    .union([
      z.strictObject({ kind: z.enum(["eval", "evalsha"]) }),
      z.strictObject({ kind: z.literal("fcall"), function: z.string() }),
    ])
    .optional(),
  /** For a client whose library may never answer: a consume that takes longer has failed. */
  timeoutMs: z.number().positive().optional(),
});

/**
 * A class of rate-limiter-flexible, and its options beside the client, the key prefix and the
 * limits.
 */
export type FlexibleUse = z.infer<typeof flexibleSchema>;

/** What the project's own clients and those of plugins have. */
export const clientShape = {
  id: idSchema,
  /** npm package, of which other versions can be requested; absent for the controls. */
  package: z.string().optional(),
  /** Stores that its limiter's script runs on; the first is the default. */
  stores: ids,
  topologies: ids,
  /**
   * A control measures the harness, not a client; it is reported beside the clients and never
   * ranked.
   */
  control: z.boolean(),
  /** Whether its limiter recovers by itself after the store has restarted. */
  survivesStoreRestart: z.boolean(),
  /** Whether its limiter recovers by itself after SCRIPT FLUSH and FUNCTION FLUSH. */
  survivesScriptFlush: z.boolean(),
  /** Id of its limiter; `none` admits all. */
  limiter: idSchema,
  /** How rate-limiter-flexible works with this client; absent where it does not. */
  flexible: flexibleSchema.optional(),
  canSkipHandshake: z.literal(true).optional(),
  /** Set when `handle` has the methods of that library, for limiters that take such an object. */
  handleApi: z.enum(["ioredis", "node-redis"]).optional(),
  /** It sends a command again whose reply was lost, so a consume may count twice. */
  sendsAgain: z.literal(true).optional(),
  /**
   * A consume waits for a store that does not answer, without a bound or for longer than any
   * request.
   */
  waitsForStore: z.literal(true).optional(),
  /**
   * Why its class of rate-limiter-flexible cannot keep these limits; absent where it can keep any.
   */
  unsupportedReason: functionOf<(limits: Limits) => string | undefined>().optional(),
  /** Whether `+autopipelining` can be switched on in a topology: true, or the reason why not. */
  autoPipelining: functionOf<(topology: string) => true | string>(),
  /** Loads the library and connects. @throws Error when the store cannot be reached */
  open: functionOf<(place: StorePlace, tuning?: Tuning) => Promise<OpenClient>>(),
};

/**
 * A Node library that talks to the store or to a service: one file in `clients/` and one line in
 * its list.
 */
export interface ClientDescription extends Shaped<typeof clientShape> {
  /** Id of the service that it calls instead of the store. */
  service?: string;
  /** Id of the module that its limiter needs in the store. */
  module?: string;
  storeArguments?: readonly string[];
  serviceEnvironment?: Readonly<Record<string, string>>;
  /** Some decisions reach neither store nor service, e.g. because denials are cached. */
  decidesLocally?: boolean;
  /** A request without a decision is admitted. */
  failsOpen?: true;
  /** The members that `+same-script` replaces; absent for a client that runs no script. */
  sameScript?: Partial<ClientDescription>;
  /** It can connect with `Tuning.settings`: the members that each of them replaces. */
  ownSettings?: Readonly<Record<OwnSettings, Partial<ClientDescription>>>;
  /** Those that an option has chosen; absent: the settings that all clients share. */
  settings?: OwnSettings;
  /** How a load program without Node makes its calls; absent where none can. */
  native?: NativeProtocol;
  /** The version of Node that an option has its servers run in. */
  node?: string;
  /** Id of the load program that an option puts in its place. */
  program?: string;
  /** Id of the server's web framework that an option chooses; absent: the usual one. */
  framework?: string;
}

/** A client as an option changes it, or the reason why it does not support the option. */
export type VariedClient = ClientDescription | { skip: string };

/** How any program reaches what decides, with the calls that `LimiterDescription.callOf` makes. */
export type NativeProtocol =
  /** Posts them as JSON. `port`: its name among the ports; absent: the main one. */
  | { kind: "http"; path: string; port?: string }
  | { kind: "grpc"; method: GrpcMethod; port: string }
  /** Sends each as the words of a command. */
  | { kind: "resp"; command(call: object): string[] };

export const optionShape = {
  /** For a family of options their common form, e.g. `pipeline-<n>us`. */
  id: idSchema,
  /** One line that says what it changes. */
  summary: lineSchema,
  /**
   * The client with this option in a topology, or the reason why the client does not support it
   * there. The id is that which the target's text names.
   */
  apply: functionOf<(client: ClientDescription, topology: string, id: string) => VariedClient>(),
};

/**
 * How an option separates rankings, and how the report names that. Plan and report read nothing
 * else about it.
 */
export interface Separation {
  /** What differs between the rows, e.g. `encryption`. Options of one family share it. */
  what: string;
  /**
   * `others`: all rows that have the option are ranked with each other. `itself`: each client is
   * ranked with itself, with the option and without it, and with no other client.
   */
  compares: "others" | "itself";
  /**
   * What the report says of a ranking that the option separates: `on express`, `with TLS and
   * without`.
   */
  words: string;
  /** What the report says in a list of what differs; absent: `words`. */
  value?: string;
  /** What it says there of rows without an option of the family. */
  usual?: string;
}

/** A variation of a client, `+id` in a target's text: one entry in `options.ts`. */
export interface OptionDescription extends Shaped<typeof optionShape> {
  /** The ids of a family of options. */
  pattern?: RegExp;
  /** Present where rankings never mix rows with this option and rows without it. */
  separates?: Separation;
}

/** What the limiter decided on one descriptor or, for a request, its most restrictive decision. */
export type Decision =
  | { outcome: "allowed" }
  | { outcome: "limited"; limit: number; remaining: number; msBeforeNext: number }
  | { outcome: "failed"; error: Error };

export type DecisionCounts = Record<Decision["outcome"], number>;

/** Decides on one key. Never rejects: when the store fails, the outcome is `failed`. */
export interface Limiter {
  /**
   * @param cost points that the request uses; other values than 1 only where
   *   `LimiterDescription.takesCost`
   */
  consume(key: string, cost?: number): Promise<Decision>;
  /**
   * How many of its promises were settled with each outcome. Optional: without it the harness
   * counts, which costs a promise per consume.
   */
  readonly decisions?: Readonly<DecisionCounts>;
  /**
   * How many commands its consumes sent to the store, where one may send several; absent: one each.
   */
  readonly commands?: number | undefined;
  /**
   * How many of its decisions it made without the store, because that failed; absent: it makes
   * none.
   */
  readonly withoutStore?: number | undefined;
}

/**
 * Decides on requests: one call with all descriptors where the system has that, else one call for
 * each.
 */
export interface RequestLimiter {
  /**
   * Decides on the descriptors of one request and counts the decisions. A key that begins with
   * `EXHAUSTED_KEY_PREFIX` has a used-up quota. Never rejects.
   * @param keys one key, or all of them
   * @returns the most restrictive decision; a failure outweighs a denial, because then the overall
   *   decision is unknown
   */
  consume(keys: string | readonly string[], cost?: number): Promise<Decision>;
  /** Since the start. */
  readonly consumes: Readonly<Consumes>;
  /**
   * Of a limiter that its users install as a plugin: the server uses its hook, whose decisions are
   * in `consumes`, too.
   */
  readonly hook?: { install: InstallHook /** It could not decide. */; failed(): void } | undefined;
}

/** The members of a request that a hook tells its key from, in every framework. */
export type HookedRequest = { readonly query: unknown; readonly ip?: string | undefined };

/** What a limiter that decides in a hook of the web framework is told, and tells. */
export interface LimiterHook {
  /** The library tells clients by its own default, not by `keyOf`, which is called all the same. */
  byAddress?: true;
  /** The key of a request. @throws an error with a status code for a bad one */
  keyOf(request: HookedRequest): string;
  /** Called once for each decision, before the handler runs. */
  decided(request: HookedRequest, outcome: "allowed" | "limited"): void;
}

/**
 * Adds the hook of a limiter to the routes that are added afterwards to this application of its
 * framework.
 */
// biome-ignore lint/suspicious/noExplicitAny: each framework has a type of its own
export type InstallHook = (app: any, hook: LimiterHook) => Promise<unknown>;

/** What the project's own limiters and those of plugins have. */
export const limiterShape = {
  id: idSchema,
  package: z.string().optional(),
  /** One line that says what decides, and how. */
  summary: lineSchema.optional(),
  /** The algorithm that predicts the share of limited requests (M10); absent: a fixed window. */
  algorithm: z.enum(algorithms).optional(),
  /** Whether concurrent requests can never be admitted beyond the quota. */
  atomic: z.boolean().optional(),
  /** Stores on which it is not, although it is elsewhere. */
  notAtomicOn: z.array(idSchema, "must be a list of ids").min(1).readonly().optional(),
  /**
   * Commands that carry its decisions, as the store's statistics name them (`INFO commandstats`,
   * `cmd_…` of memcached); absent: those that run a script.
   */
  decisionCommands: words.optional(),
  /**
   * Why no key can be exhausted at the cost of a usual decision; then it only takes traffic that is
   * all admitted.
   */
  cannotExhaust: lineSchema.optional(),
  /**
   * A client with this limiter instead of its own, or the reason why it does not support it. Absent
   * for a limiter that no client can choose: then a client's description names it.
   */
  applyTo: functionOf<(client: ClientDescription, topology: string) => VariedClient>().optional(),
  /** Whether a request may cost more than one point. */
  takesCost: z.boolean().optional(),
  /**
   * The store's key that holds, as a whole number, the points that a key has consumed in its
   * window, denied ones included; absent for a limiter that keeps no such number.
   */
  countKey: functionOf<(key: string, keyPrefix: string) => string>().optional(),
  /**
   * Why it cannot keep these limits, as the reason of a skip; absent for a limiter that can keep
   * any.
   */
  unsupportedReason: functionOf<(limits: Limits) => string | undefined>().optional(),
  /** @deprecated The former name of `unsupportedReason`. */
  lacks: functionOf<(limits: Limits) => string | undefined>().optional(),
  /**
   * Makes the limiter on a client. A system that takes one key per call gives a pair: `standard`
   * with the given limits, and `exhausted` with 0 points at the same cost for the store. A system
   * that takes all descriptors of a request in one call gives a `RequestLimiter`, and one that
   * admits all gives undefined. When it resolves, scripts are loaded and no key is left in the
   * store. `libraries` says where the limiter's library is loaded from.
   */
  create:
    functionOf<
      (
        client: OpenClient,
        description: ClientDescription,
        limits: Limits,
        keyPrefix: string,
        libraries: Libraries,
      ) => Promise<LimiterPair | (RequestLimiter & LimiterFacts) | undefined>
    >(),
};

export interface LimiterDescription extends Shaped<typeof limiterShape> {
  /**
   * Installed when the limiter is first used, and loaded from there; absent where the project has
   * it.
   */
  onDemand?: PackageVersion;
  /** Id of the web framework that its hook is for; absent where it decides in any. */
  framework?: string;
  /**
   * The call that decides on one key, whatever the protocol; absent where a library makes it. A key
   * that begins with `EXHAUSTED_KEY_PREFIX` has a used-up quota.
   */
  callOf?(key: string, limits: Limits, run: { nonce: string; keyPrefix: string }): object;
}

export interface LimiterFacts {
  /** Version of the limiter's library. */
  version?: string;
  /** The script that decides; absent for a limiter without a script. */
  script?: LimiterScript;
}

export interface LimiterPair extends LimiterFacts {
  install?: InstallHook;
  standard: Limiter;
  exhausted: Limiter;
}

/** What the project's own stores and those of plugins have. */
export const storeShape = {
  id: idSchema,
  /**
   * Id of the engine that starts, reads and empties it, e.g. `resp`; absent for a store in the
   * server's process.
   */
  engine: z.string().optional(),
  /** Name of its program; absent for a store in the server's process. */
  program: z
    .string()
    .regex(/^[\w.+-]{1,100}$/, "must be the name of an executable, without its folder")
    .optional(),
  /**
   * The image with the program, and the environment variable that overrides it; absent: it does not
   * run in containers.
   */
  image: z
    .strictObject({ name: z.string().min(1), variable: z.string().min(1).optional() })
    .optional(),
  /** Arguments of its program besides address, folder and topology, which the engine gives. */
  arguments: z.array(z.string()).readonly().optional(),
  /** Topologies in which it can run; absent: all. */
  topologies: ids.optional(),
  /** Engine `resp`: field of `INFO server` that holds the version. */
  versionField: z.string().regex(/^\w+$/, "must be the name of a field of INFO").optional(),
  /**
   * Engine `resp`: commands that carry the limiter's decisions, as `INFO commandstats` names them.
   */
  decisionCommands: words.optional(),
  /**
   * A store whose clients can use this one, too, when a target names it: how a plugin's store gets
   * its clients.
   */
  compatibleWith: idSchema.optional(),
  /** Evidence that this store cannot give although its engine can read it. */
  withoutEvidence: z.array(z.enum(evidenceNames)).readonly().optional(),
};

/** A store: one entry in `stores/index.ts`, or in a plugin. */
export interface StoreDescription extends Shaped<typeof storeShape> {
  /** It does not know `--version`: its version is read from its file, or is that of its image. */
  withoutVersionFlag?: true;
  /**
   * Engine `resp`: its configuration file in the project's folder, whose settings become arguments.
   */
  conf?: string;
  /** Threads of a node that execute commands; absent: one. */
  commandThreads?: number;
  /** Whether the store itself decides; reports then group it under services. */
  decides?: boolean;
  /**
   * Id of the limiter that every target on it has; its `applyTo` says which clients of other stores
   * can use it.
   */
  limiter?: string;
  /** Names of the further ports on which its program listens. */
  ports?: readonly string[];
  /**
   * The user named its program alone: it gets an address and a port, and may lack anything else.
   */
  isNamed?: true;
}

/** The address and folder of one store node. */
export interface NodeAllocation {
  bind: string;
  port: number;
  secondPort: number;
  folder: string;
  /** Ports by the names in `StoreDescription.ports`. */
  ports: Readonly<Record<string, number>>;
  /** Paths of its certificate and key; absent: connections to it are not encrypted. */
  tls?: { cert: string; key: string };
}

/**
 * A library that a RESP store loads and that adds a limiter's command: one entry in
 * `modules/index.ts`.
 */
export interface ModuleDescription {
  id: string;
  /** Environment variable that names its file. */
  variable: string;
  /** Its name in `MODULE LIST`, in any case. */
  name: string;
  /** The command that decides, as the store names it. */
  command: string;
  stores: readonly [string, ...string[]];
  /** How to get its file, for messages. */
  remedy: string;
}

/** A program that decides, between server and store: one folder in `services/`. */
export interface ServiceDescription {
  id: string;
  program: string;
  /** The image with the program, and the environment variable that overrides it. */
  image: { name: string; variable: string };
  /** It does not know `--version`: its version is read from its file, or is that of its image. */
  withoutVersionFlag?: true;
  ports: readonly string[];
  /** Names of the settings that the user may not set: addresses, and what the harness relies on. */
  reserved: RegExp;
  /** Why it cannot keep these limits; absent for a service that can keep any. */
  unsupportedReason?(limits: Limits): string | undefined;
  /**
   * Files that it reads, by path below the folder `files` of its allocation.
   * @param nonce identifies the run
   * @param access to an external store
   */
  files(limits: Limits, nonce: string, access?: StoreAccess): Readonly<Record<string, string>>;
  arguments?(allocation: ServiceAllocation, place: StorePlace): readonly string[];
  /** All settings; those without an address are part of the result. */
  environment(allocation: ServiceAllocation, place: StorePlace): Readonly<Record<string, string>>;
  /**
   * The setting that it refused, from the lines that it printed before it ended; undefined where
   * they name none.
   */
  refusedSetting?(lines: readonly string[]): { name: string; takes: string } | undefined;
  /** Waits until it answers. @throws environmentError with the last problem */
  ready(place: ServiceSpec, deadlineMs: number): Promise<void>;
  read(place: ServiceSpec): Promise<ServiceReading>;
}

/** Where a service listens, and the folder of its configuration files. */
export interface ServiceAllocation {
  bind: string;
  port: number;
  ports: Readonly<Record<string, number>>;
  files: string;
}

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
  /** The environment variables of the program of one node; absent for one that takes none. */
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
    nodes: readonly Node[],
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
   * The counters of each node.
   * @param decisionCommands that carry the limiter's decisions; absent: those that run a script
   * @throws environmentError when a node is another store
   */
  read(store: StoreDescription, decisionCommands?: readonly string[]): Promise<StoreReading[]>;
  /**
   * The whole numbers under these keys; undefined for a key that there is not. Absent for an engine
   * without keys.
   */
  numbers?(keys: readonly string[]): Promise<(number | undefined)[]>;
  /** The keys that have not ended; absent for an engine that does not list them. */
  storedKeys?(): Promise<StoredKeys>;
  /** Takes the end from all keys, as a crash between two commands may. @returns how many had one */
  persistKeys?(): Promise<number>;
  /**
   * More about the commands that carry the limiter's decisions, and the network, of each node;
   * absent for an engine that does not tell it.
   * @param decisionCommands as for `read`
   */
  diagnose?(decisionCommands?: readonly string[]): Promise<NodeCounters[]>;
  /** Settings of the running store that can affect a figure. */
  settings(): Promise<Record<string, string>>;
  /**
   * Carries out a fault, or undoes it. Absent for an engine whose servers carry out none.
   * @throws environmentError when a node refuses
   */
  inject?(fault: StoreFault, deadlineMs: number): Promise<void>;
  /** What the server lacks; absent for an engine whose servers are all alike. */
  features?(): Promise<StoreFeature[]>;
  /** Gives the store the keys and the script that an operation of the store layer needs. */
  prepare?(workload: Workload): Promise<NonNullable<ProbeReport["prepared"]>>;
  /**
   * The known modules that every node has loaded, by id, with their versions (empty where a module
   * does not tell it); absent for an engine without modules.
   */
  modules?(): Promise<Readonly<Record<string, string>>>;
  /** The type, version, topology and nodes of the store at the first node. */
  discover(): Promise<Discovery>;
  close(): void;
}

/** Number of nodes, and how they are connected. */
export interface TopologyDescription {
  id: string;
  primaries: number;
  replicas: number;
  /** Arguments of the store program that the topology needs. */
  nodeArguments: readonly string[];
}
