import { setTimeout as delay } from "node:timers/promises";
import type { createClient, createCluster } from "redis";
import type { ClientSettings } from "../../contract/server-api.js";
import { within } from "../../kit/deadline.js";
import { definedOnly } from "../../kit/defined-only.js";
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
import { isCluster, placeOfEndpoint } from "../topologies.js";
import {
  bounded,
  common,
  commonProperties,
  OPEN_DEADLINE_MS,
  reportedSettings,
} from "./client-settings.js";
import { shardKeys, singleShardKeys } from "./shard-keys.js";

const PACKAGE = "redis";

/**
 * An idle connection sends PING, so that silence longer than the time-out means that the store
 * hangs.
 */
const PING_INTERVAL_MS = 1_000;

const CLOSE_TIMEOUT_MS = 1_000;

const socket = {
  connectTimeout: common.connectTimeoutMs,
  /**
   * The command time-out of the library ends when a command is written; only this one limits the
   * wait for a reply.
   */
  socketTimeout: common.requestTimeoutMs,
  reconnectStrategy: () => common.reconnectDelayMs,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: common.tcpKeepAliveMs,
  family: 0,
} as const;

/** Options of a connection in either topology. */
const connection = {
  RESP: 2,
  disableOfflineQueue: true,
  commandOptions: { timeout: common.requestTimeoutMs },
  pingInterval: PING_INTERVAL_MS,
  maintNotifications: "disabled",
} as const;

/**
 * The options without CLIENT SETINFO and PING. Without those, silence says nothing about the
 * server, so the socket has no time-out, and each command has one of its own.
 */
const { pingInterval: _pingInterval, ...withoutPing } = connection;
const { socketTimeout: _socketTimeout, ...withoutTimeout } = socket;
const bareOptions = {
  connection: { ...withoutPing, disableClientInfo: true },
  socket: withoutTimeout,
} as const;

/**
 * What `+tuned` passes. The socket's time-out is the one bound of a reply: the command's ends when
 * a command is written, and costs more than the rest of the client. PING keeps an idle connection
 * from being cut by it.
 */
const tunedConnection = {
  disableOfflineQueue: true,
  // A time-out of 0 means none.
  commandOptions: { timeout: 0 },
  pingInterval: PING_INTERVAL_MS,
} as const;
const tunedSocket = {
  socketTimeout: common.requestTimeoutMs,
  /** The library's own, which gives up after a socket time-out, without that exception. */
  reconnectStrategy: (retries: number) =>
    Math.min(2 ** retries * 50, 2_000) + Math.floor(Math.random() * 200),
} as const;

const sharedSettings: ClientSettings = {
  protocol: "RESP2",
  auto_pipelining: true,
  offline_queue: false,
  auto_resend_unfulfilled_commands: false,
  max_retries_per_request: null,
  request_timeout_ms: connection.commandOptions.timeout,
  connect_timeout_ms: socket.connectTimeout,
  reconnect_delay_ms: common.reconnectDelayMs,
  inflight_requests_limit: null,
  tcp_no_delay: socket.noDelay,
  tcp_keep_alive_ms: socket.keepAliveInitialDelay,
  ip_family: socket.family,
  read_from: "primary",
  socket_timeout_ms: socket.socketTimeout,
  ping_interval_ms: connection.pingInterval,
};

/** `bareOptions` says why these options leave out the time-out of the socket and the ping. */
const { socket_timeout_ms: _timeout, ping_interval_ms: _ping, ...bareSettings } = sharedSettings;

const fixedSettings: ClientSettings = {
  auto_pipelining: true,
  auto_resend_unfulfilled_commands: false,
};
const passedSettings: Readonly<Record<OwnSettings, ClientSettings>> = {
  defaults: fixedSettings,
  tuned: {
    ...fixedSettings,
    offline_queue: false,
    request_timeout_ms: tunedConnection.commandOptions.timeout,
    socket_timeout_ms: tunedSocket.socketTimeout,
    ping_interval_ms: tunedConnection.pingInterval,
  },
};

/**
 * The options of a connection in either topology.
 * @param settings those of the target, by default the settings that all clients share
 */
function optionsOf(settings: OwnSettings | undefined) {
  if (settings === "defaults") return { connection: {}, socket: {} };
  return settings === "tuned"
    ? { connection: tunedConnection, socket: tunedSocket }
    : { connection, socket };
}

const settingsOf = (settings: OwnSettings | undefined, hello: () => Promise<unknown>) =>
  reportedSettings(sharedSettings, settings && passedSettings[settings], hello);

/** The methods of a standalone or cluster client that open and close it. */
interface Client {
  on(event: "error" | "node-error", listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  close(): Promise<unknown>;
  destroy(): void;
}

/** Tries until the deadline: a cluster client gives up when no seed node answers. @throws Error */
async function connect(client: Client): Promise<void> {
  let lastReason = "no answer";
  const note = (error: Error) => {
    lastReason = messageOf(error);
  };
  // These listeners stay: a store that is lost later must fail a consume, not raise an unhandled
  // 'error'.
  client.on("error", note);
  client.on("node-error", note);
  let late = false;
  const attempts = async () => {
    while (!late) {
      const connected = await client.connect().then(
        () => true,
        () => false,
      );
      // A client that is destroyed while it connects opens all the same, and would never be closed.
      if (connected && late) client.destroy();
      if (connected) return;
      await delay(common.reconnectDelayMs);
    }
  };
  await within(attempts(), OPEN_DEADLINE_MS, () => {
    late = true;
    client.destroy();
    return lastReason;
  });
}

/**
 * Waits for pending replies, unless the store hangs.
 * @param connections all connections of a cluster client
 */
async function close(
  client: Client,
  connections: readonly Pick<Client, "destroy">[],
): Promise<void> {
  const timer = setTimeout(() => {
    for (const connection of connections) connection.destroy();
  }, CLOSE_TIMEOUT_MS);
  // It rejects when the client is closed already.
  await client.close().catch(() => undefined);
  clearTimeout(timer);
}

/**
 * @throws Error for an old version without these methods, which would otherwise fail only when it
 *   is closed
 */
function requireMethods(client: object): void {
  for (const method of ["close", "destroy"]) {
    if (!(method in client)) throw new Error(`this version's client has no ${method}()`);
  }
}

/** The credentials, without an empty user or password. */
const credentials = ({ access }: StorePlace) =>
  definedOnly({
    username: access?.username || undefined,
    password: access?.password || undefined,
  });

const encryption = ({ access }: StorePlace) =>
  access?.tls ? ({ tls: true, ...access.tls } as const) : {};

async function openStandalone(
  create: typeof createClient,
  place: StorePlace,
  version: string,
  { settings, skipsHandshake = false }: Tuning,
): Promise<OpenClient> {
  const options = skipsHandshake ? bareOptions : optionsOf(settings);
  const client = create({
    ...options.connection,
    ...credentials(place),
    socket: { ...options.socket, ...encryption(place), ...place.nodes[0] },
  });
  requireMethods(client);
  await connect(client);
  return {
    handle: client,
    version,
    settings: skipsHandshake
      ? bareSettings
      : await settingsOf(settings, () => client.sendCommand(["HELLO"])),
    storeVersion: async () =>
      skipsHandshake ? undefined : versionFromInfo(place.store, [await client.info("server")]),
    command: (_key, name, ...parameters) => {
      const reply = client.sendCommand([name, ...parameters.map(String)]);
      return skipsHandshake ? bounded(reply, common.requestTimeoutMs) : reply;
    },
    shardKeys: singleShardKeys,
    close: () => close(client, [client]),
  };
}

async function openCluster(
  create: typeof createCluster,
  place: StorePlace,
  version: string,
  settings: OwnSettings | undefined,
): Promise<OpenClient> {
  const options = optionsOf(settings);
  const sharedOptions = { RESP: connection.RESP, useReplicas: false } as const;
  const client = create({
    ...(settings ? undefined : sharedOptions),
    rootNodes: place.nodes.map((node) => ({ socket: node })),
    nodeAddressMap: (endpoint) => placeOfEndpoint(endpoint, place.nodes),
    defaults: {
      ...options.connection,
      ...credentials(place),
      socket: { ...options.socket, ...encryption(place) },
    },
  });
  requireMethods(client);
  await connect(client);
  const primaries = () => Promise.all(client.masters.map((node) => client.nodeClient(node)));
  const ask = async (...words: string[]) => (await primaries())[0]?.sendCommand(words);
  return {
    handle: client,
    version,
    settings: await settingsOf(settings, () => ask("HELLO")),
    storeVersion: async () => {
      const nodes = await primaries();
      return versionFromInfo(
        place.store,
        await Promise.all(nodes.map((node) => node.info("server"))),
      );
    },
    command: (key, name, ...parameters) =>
      client.sendCommand(key, false, [name, ...parameters.map(String)]),
    shardKeys: () => shardKeys(ask),
    close: () => {
      const connections = client.masters.flatMap((node) => node.client ?? []);
      return close(client, connections);
    },
  };
}

export const nodeRedis: ClientDescription = {
  id: "node-redis",
  package: PACKAGE,
  stores: ["redis", "valkey"],
  topologies: ["standalone", "cluster", "cluster-3"],
  ...commonProperties,
  canSkipHandshake: true,
  handleApi: "node-redis",
  limiter: "rate-limiter-flexible",
  // Without `useRedisPackage` the class calls methods that this library does not have.
  flexible: {
    className: "RateLimiterRedis",
    options: { useRedisPackage: true },
    script: { kind: "eval" },
  },
  // The class of rate-limiter-flexible for this client already runs this script.
  sameScript: {},
  ownSettings: { defaults: { waitsForStore: true }, tuned: {} },
  autoPipelining: () => "it has no such setting, it always sends the commands of one turn together",
  async open(place, tuning = {}) {
    const { libraries = ownLibraries } = tuning;
    const { createClient, createCluster } = await libraries.load(PACKAGE, () => import("redis"));
    const version = libraries.version(PACKAGE);
    return isCluster(place.topology)
      ? openCluster(createCluster, place, version, tuning.settings)
      : openStandalone(createClient, place, version, tuning);
  },
};
