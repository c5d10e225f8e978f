import type { Node } from "../../contract/env.js";
import type { ClientSettings } from "../../contract/server-api.js";
import type { StoreAccess } from "../../contract/store-url.js";
import { versionFromInfo } from "../stores/version.js";
import type { OpenClient, StorePlace, Tuning } from "../types.js";
import { common, OPEN_DEADLINE_MS } from "./settings.js";
import { shardKeys, singleShardKeys } from "./shard-keys.js";

/** What ioredis and its fork iovalkey have in common, as far as we use it. */
interface Connection {
  status: string;
  on(event: "error" | "ready" | "node error", listener: (error: Error) => void): unknown;
  off(event: "ready", listener: () => void): unknown;
  info(section: "server"): Promise<string>;
  quit(): Promise<unknown>;
  disconnect(): void;
}

interface ClusterConnection extends Connection {
  nodes(role: "master"): Connection[];
  cluster(subcommand: "SLOTS"): Promise<unknown>;
  cluster(subcommand: "KEYSLOT", key: string): Promise<unknown>;
}

/** The library, as its own file loaded it. */
export interface Family {
  version: string;
  standalone(options: StandaloneOptions): Connection;
  cluster(nodes: Node[], options: ClusterOptions): ClusterConnection;
}

/** How long `close` waits for replies. */
const CLOSE_PATIENCE_MS = 1_000;

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
export type StandaloneOptions = typeof standaloneOptions &
  StoreAccess &
  Node & { enableAutoPipelining: boolean };

const clusterOptions = {
  redisOptions: connectionOptions,
  enableOfflineQueue: false,
  enableReadyCheck: true,
  scaleReads: "master",
  clusterRetryStrategy: reconnectDelay,
  // A command whose connection closed may already have been counted: it fails instead of running again.
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
} as const;
export type ClusterOptions = typeof clusterOptions & { enableAutoPipelining: boolean };

/** The settings in the terms of the result; both topologies are given the same. */
const settings = (autoPipelining: boolean): ClientSettings => ({
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

/** What went wrong, with the first cause that the cluster client hides behind its own error. */
function reason(error: Error): string {
  const { lastNodeError } = error as { lastNodeError?: Error };
  return (lastNodeError?.message ?? error.message) || String((error as NodeJS.ErrnoException).code);
}

/**
 * Resolves when the client is ready for commands: with the offline queue off nothing may be sent before.
 * @throws Error with the last thing that went wrong, when it is not ready by the deadline
 */
function ready(connection: Connection): Promise<void> {
  let last = "no answer";
  const note = (error: Error) => {
    last = reason(error);
  };
  // These listeners stay for good: a store that is lost later is a failed consume, never an unhandled 'error'.
  connection.on("error", note);
  connection.on("node error", note);
  return new Promise((resolve, reject) => {
    const onReady = () => {
      clearTimeout(deadline);
      connection.off("ready", onReady);
      resolve();
    };
    const deadline = setTimeout(() => {
      connection.off("ready", onReady);
      connection.disconnect();
      reject(new Error(last));
    }, OPEN_DEADLINE_MS);
    connection.on("ready", onReady);
  });
}

/** Waits for the replies still due, but not for a store that hangs or is gone: that connection is cut. */
function close(connection: Connection): Promise<void> {
  return new Promise((resolve) => {
    const cut = () => {
      connection.disconnect();
      left();
    };
    const patience = setTimeout(cut, CLOSE_PATIENCE_MS);
    const left = () => {
      clearTimeout(patience);
      resolve();
    };
    connection.quit().then(left, cut);
  });
}

async function openStandalone(
  family: Family,
  place: StorePlace,
  node: Node,
  enableAutoPipelining: boolean,
): Promise<OpenClient> {
  const client = family.standalone({
    ...standaloneOptions,
    ...place.access,
    ...node,
    enableAutoPipelining,
  });
  await ready(client);
  return {
    handle: client,
    version: family.version,
    settings: settings(enableAutoPipelining),
    storeVersion: async () => versionFromInfo(place.store, [await client.info("server")]),
    shardKeys: singleShardKeys,
    close: () => close(client),
  };
}

async function openCluster(
  family: Family,
  place: StorePlace,
  enableAutoPipelining: boolean,
): Promise<OpenClient> {
  const client = family.cluster([...place.nodes], {
    ...clusterOptions,
    redisOptions: { ...clusterOptions.redisOptions, ...place.access },
    enableAutoPipelining,
  });
  await ready(client);
  return {
    handle: client,
    version: family.version,
    settings: settings(enableAutoPipelining),
    storeVersion: async () => {
      const primaries = client.nodes("master");
      return versionFromInfo(place.store, await Promise.all(primaries.map((node) => node.info("server"))));
    },
    shardKeys: () =>
      shardKeys({ slots: () => client.cluster("SLOTS"), keySlot: (key) => client.cluster("KEYSLOT", key) }),
    close: () => close(client),
  };
}

/**
 * Connects with ioredis or iovalkey.
 * @throws Error when the store cannot be reached within the deadline
 */
export async function openFamily(
  family: Family,
  place: StorePlace,
  { autoPipelining = false }: Tuning = {},
): Promise<OpenClient> {
  const [first] = place.nodes;
  if (!first) throw new Error("no node was given");
  return place.topology === "cluster"
    ? openCluster(family, place, autoPipelining)
    : openStandalone(family, place, first, autoPipelining);
}
