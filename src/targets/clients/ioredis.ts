import type { ClientSettings } from "../../contract/server-api.js";
import type { StoreAccess } from "../../contract/store-url.js";
import { within } from "../../kit/deadline.js";
import type { NodePlace } from "../../kit/env.js";
import { messageOf } from "../../kit/errors.js";
import { ownLibraries } from "../libraries.js";
import { versionFromInfo } from "../stores/resp/resp-version.js";
import type {
  ClientDescription,
  OpenClient,
  OwnSettings,
  StorePlace,
  Tuning,
} from "../target-types.js";
import { isCluster, placeOfEndpoint, UNKNOWN_HOST } from "../topologies.js";
import { common, commonProperties, OPEN_DEADLINE_MS, reportedSettings } from "./client-settings.js";
import { shardKeys, singleShardKeys } from "./shard-keys.js";

const iovalkeyLibrary = {
  package: "iovalkey",
  load: () => import("iovalkey"),
  // The fallback may look up the other address family on each reconnection, which only causes a
  // delay.
  always: { familyFallback: { enabled: false } },
};

interface Connection {
  status: string;
  on(event: "error" | "node error", listener: (error: Error) => void): unknown;
  once(event: "ready", listener: () => void): unknown;
  info(section: "server"): Promise<string>;
  sendCommand(command: SentCommand): unknown;
  quit(): Promise<unknown>;
  disconnect(): void;
}

/** A command of the libraries, whose members are not declared. */
type SentCommand = { promise: Promise<unknown> };

type CommandClass = new (
  name: string,
  parameters: readonly (string | number)[],
  options: { replyEncoding: "utf8" },
) => SentCommand;

interface TransformedCommand {
  setReplyTransformer(name: string, transform: (reply: unknown) => unknown): void;
}

interface ClusterConnection extends Connection {
  nodes(role: "master"): Connection[];
  call(name: string, words: string[]): Promise<unknown>;
}

interface IoredisExports {
  Redis: new (options: StandaloneOptions) => Connection;
  Cluster: new (nodes: NodePlace[], options: ClusterOptions) => ClusterConnection;
  Command: CommandClass & TransformedCommand;
}

/** One of the two, as the client's file describes it. */
interface IoredisLibrary {
  package: string;
  /** Imports the version that the project installs. */
  load(): Promise<unknown>;
  /** Options of each connection that it alone needs, but for a target with settings of its own. */
  always: object;
}

interface LoadedLibrary extends IoredisExports {
  version: string;
  always: object;
}

/** What descriptions of both have in common. */
const ioredisFamily = {
  topologies: ["standalone", "cluster", "cluster-3"],
  ...commonProperties,
  canSkipHandshake: true,
  limiter: "rate-limiter-flexible",
  handleApi: "ioredis",
  ownSettings: { defaults: { sendsAgain: true, waitsForStore: true }, tuned: { sendsAgain: true } },
  autoPipelining: () => true,
} satisfies Partial<ClientDescription>;

const CLOSE_TIMEOUT_MS = 1_000;
/** How often a cluster is asked which node has which slots. */
const SLOTS_REFRESH_MS = 1_000;

const connectionOptions = {
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: common.requestTimeoutMs,
  connectTimeout: common.connectTimeoutMs,
  keepAlive: common.tcpKeepAliveMs,
  noDelay: true,
  family: 0,
  enableReadyCheck: true,
} as const;

const reconnectDelay = () => common.reconnectDelayMs;

const standaloneOptions = {
  ...connectionOptions,
  enableOfflineQueue: false,
  retryStrategy: reconnectDelay,
} as const;

/** The libraries then ask for no INFO, and do not send CLIENT SETINFO. */
const withoutHandshake = { enableReadyCheck: false, disableClientInfo: true } as const;

type CommonOptions = { enableAutoPipelining?: boolean; disableClientInfo?: boolean };
type StandaloneOptions = Partial<Omit<typeof standaloneOptions, "enableReadyCheck">> &
  StoreAccess &
  NodePlace &
  CommonOptions & { enableReadyCheck?: boolean };

const clusterOptions = {
  redisOptions: connectionOptions,
  enableOfflineQueue: false,
  enableReadyCheck: true,
  scaleReads: "master",
  clusterRetryStrategy: reconnectDelay,
  // A command whose connection closed may already have been counted: it fails instead of running
  // again.
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  // Only a retry asks for the slots anew. Without it iovalkey would connect to a lost primary for
  // ever.
  slotsRefreshInterval: SLOTS_REFRESH_MS,
} as const;
type ClusterOptions = Partial<Omit<typeof clusterOptions, "redisOptions">> &
  CommonOptions & {
    redisOptions: Partial<typeof connectionOptions> & StoreAccess;
    natMap?: (endpoint: string) => NodePlace | null;
    dnsLookup?: (host: string, callback: (error: null, address: string) => void) => void;
  };

/**
 * What `+tuned` passes: commands of one turn are one write, a reply has one bound, and an
 * unreachable store is a failure at once. The bound is the command's: the other one, of the socket,
 * only repeats the command on a new connection.
 */
const tunedOptions = { enableAutoPipelining: true, enableOfflineQueue: false } as const;
const tunedConnection = { commandTimeout: common.requestTimeoutMs } as const;

function standaloneOptionsOf({
  settings,
  autoPipelining = false,
  skipsHandshake = false,
}: Tuning): Omit<StandaloneOptions, keyof NodePlace> {
  if (settings) return settings === "tuned" ? { ...tunedOptions, ...tunedConnection } : {};

  const options = { ...standaloneOptions, enableAutoPipelining: autoPipelining };
  return skipsHandshake ? { ...options, ...withoutHandshake } : options;
}

function clusterOptionsOf({ settings, autoPipelining = false }: Tuning): ClusterOptions {
  if (settings)
    return settings === "tuned"
      ? { ...tunedOptions, redisOptions: tunedConnection }
      : { redisOptions: {} };
  return { ...clusterOptions, enableAutoPipelining: autoPipelining };
}

/**
 * The settings that all clients share, as the result reports them. They are the same for
 * both topologies.
 */
const sharedSettings = (autoPipelining: boolean): ClientSettings => ({
  protocol: "RESP2",
  auto_pipelining: autoPipelining,
  offline_queue: false,
  auto_resend_unfulfilled_commands: false,
  max_retries_per_request: connectionOptions.maxRetriesPerRequest,
  request_timeout_ms: connectionOptions.commandTimeout,
  connect_timeout_ms: connectionOptions.connectTimeout,
  reconnect_delay_ms: common.reconnectDelayMs,
  inflight_requests_limit: null,
  tcp_no_delay: connectionOptions.noDelay,
  tcp_keep_alive_ms: connectionOptions.keepAlive,
  ip_family: connectionOptions.family,
  read_from: "primary",
});

const passedSettings: Readonly<Record<OwnSettings, ClientSettings>> = {
  defaults: {},
  tuned: {
    auto_pipelining: tunedOptions.enableAutoPipelining,
    offline_queue: tunedOptions.enableOfflineQueue,
    request_timeout_ms: tunedConnection.commandTimeout,
  },
};

/**
 * The settings as the result reports them.
 * @param command sends one on the open connection
 */
const settingsOf = (
  { settings, autoPipelining = false }: Tuning,
  command: NonNullable<OpenClient["command"]>,
): Promise<ClientSettings> =>
  reportedSettings(sharedSettings(autoPipelining), settings && passedSettings[settings], () =>
    command("", "HELLO"),
  );

/**
 * The message of an error, or of the node's error behind an error of the cluster client.
 */
const reason = (error: Error): string =>
  messageOf((error as { lastNodeError?: Error }).lastNodeError ?? error);

/**
 * Resolves when the client is ready: without an offline queue nothing may be sent earlier. @throws
 * Error
 */
async function ready(connection: Connection): Promise<void> {
  let lastReason = "no answer";
  const note = (error: Error) => {
    lastReason = reason(error);
  };
  // These listeners stay: a store that is lost later must fail a consume, not raise an unhandled
  // 'error'.
  connection.on("error", note);
  connection.on("node error", note);
  const isReady = new Promise<void>((resolve) => connection.once("ready", resolve));
  await within(isReady, OPEN_DEADLINE_MS, () => {
    connection.disconnect();
    return lastReason;
  });
}

/** Waits for pending replies, but disconnects when the store hangs or is gone. */
async function close(connection: Connection): Promise<void> {
  await within(connection.quit(), CLOSE_TIMEOUT_MS, () => "late").catch(() =>
    connection.disconnect(),
  );
}

/**
 * Sends commands that declare no keys. A cluster client looks for the keys in its own list of
 * commands: it would send a command of a module to any node, and every node would count for itself.
 * So the key is set here.
 */
function commandOf(
  connection: Connection,
  { Command }: LoadedLibrary,
): NonNullable<OpenClient["command"]> {
  return (key, name, ...parameters) => {
    const command = new Command(name, parameters, { replyEncoding: "utf8" });
    Object.assign(command, { keys: [key] });
    connection.sendCommand(command);
    return command.promise;
  };
}

async function openStandalone(
  library: LoadedLibrary,
  place: StorePlace,
  { host, port }: NodePlace,
  tuning: Tuning,
): Promise<OpenClient> {
  const { skipsHandshake = false } = tuning;
  const client = new library.Redis({
    ...standaloneOptionsOf(tuning),
    ...place.access,
    host,
    port,
    ...library.always,
  });
  await ready(client);
  const command = commandOf(client, library);
  return {
    handle: client,
    version: library.version,
    settings: await settingsOf(tuning, command),
    storeVersion: async () =>
      skipsHandshake ? undefined : versionFromInfo(place.store, [await client.info("server")]),
    command,
    shardKeys: singleShardKeys,
    // QUIT is a command, too.
    close: async () => (skipsHandshake ? client.disconnect() : close(client)),
  };
}

/**
 * Gives a name to a node whose host a cluster leaves out of CLUSTER SLOTS. The libraries would pass
 * over it.
 */
function nameUnknownHosts(reply: unknown): unknown {
  const ranges = Array.isArray(reply) ? reply : [];
  for (const node of ranges.flatMap((range) => (Array.isArray(range) ? range.slice(2) : [])))
    if (Array.isArray(node) && !node[0]) node[0] = UNKNOWN_HOST;
  return reply;
}

async function openCluster(
  library: LoadedLibrary,
  place: StorePlace,
  tuning: Tuning,
): Promise<OpenClient> {
  const { redisOptions, ...options } = clusterOptionsOf(tuning);
  library.Command.setReplyTransformer("cluster", nameUnknownHosts);
  const client = new library.Cluster([...place.nodes], {
    ...options,
    natMap: (endpoint) => placeOfEndpoint(endpoint, place.nodes) ?? null,
    // A name stays a name: certificates hold for names.
    dnsLookup: (host, callback) => callback(null, host),
    redisOptions: { ...redisOptions, ...place.access, ...library.always },
  });
  await ready(client);
  const command = commandOf(client, library);
  return {
    handle: client,
    version: library.version,
    settings: await settingsOf(tuning, command),
    storeVersion: async () => {
      const primaries = client.nodes("master");
      return versionFromInfo(
        place.store,
        await Promise.all(primaries.map((node) => node.info("server"))),
      );
    },
    command,
    shardKeys: () => shardKeys((name, ...words) => client.call(name, words)),
    close: () => close(client),
  };
}

/** Connects with ioredis or iovalkey. @throws Error when the store cannot be reached in time */
async function openIoredis(
  { package: name, load, always }: IoredisLibrary,
  place: StorePlace,
  tuning: Tuning = {},
): Promise<OpenClient> {
  const { libraries = ownLibraries, settings } = tuning;
  const { Redis, Cluster, Command } = (await libraries.load(name, load)) as IoredisExports;
  const version = libraries.version(name);
  const library = { Redis, Cluster, Command, version, always: settings ? {} : always };
  const [first] = place.nodes;
  if (!first) throw new Error("no node was given");
  return isCluster(place.topology)
    ? openCluster(library, place, tuning)
    : openStandalone(library, place, first, tuning);
}

const ioredisLibrary = {
  package: "ioredis",
  load: () => import("ioredis"),
  // The default is RESP3, but iovalkey has only RESP2, and a comparison needs one protocol.
  always: { protocol: 2 },
};

export const ioredis: ClientDescription = {
  id: "ioredis",
  package: ioredisLibrary.package,
  stores: ["redis", "valkey"],
  ...ioredisFamily,
  flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
  // The class of rate-limiter-flexible for this client already runs this script.
  sameScript: {},
  open: (place, tuning) => openIoredis(ioredisLibrary, place, tuning),
};

export const iovalkey: ClientDescription = {
  id: "iovalkey",
  package: iovalkeyLibrary.package,
  stores: ["valkey"],
  ...ioredisFamily,
  flexible: { className: "RateLimiterValkey", script: { kind: "evalsha" } },
  sameScript: {
    stores: ["valkey", "redis"],
    flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
  },
  open: (place, tuning) => openIoredis(iovalkeyLibrary, place, tuning),
};
