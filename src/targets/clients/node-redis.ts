import { setTimeout as delay } from "node:timers/promises";
import type { createClient, createCluster } from "redis";
import type { ClientSettings } from "../../contract/server-api.js";
import { ownLibraries } from "../libraries.js";
import { versionFromInfo } from "../stores/version.js";
import type { ClientDescription, OpenClient, StorePlace } from "../types.js";
import { common, OPEN_DEADLINE_MS } from "./settings.js";
import { shardKeys, singleShardKeys } from "./shard-keys.js";

const PACKAGE = "redis";

/** A connection with nothing to say says PING, so that silence longer than the time-out means a store that hangs. */
const PING_INTERVAL_MS = 1_000;

/** How long `close` waits for replies. */
const CLOSE_PATIENCE_MS = 1_000;

const socket = {
  connectTimeout: common.connectTimeoutMs,
  /** Its command time-out ends once a command is written; only this one bounds the wait for the reply. */
  socketTimeout: common.requestTimeoutMs,
  reconnectStrategy: () => common.reconnectDelayMs,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: common.tcpKeepAliveMs,
  family: 0,
} as const;

/** For a connection, of whatever topology. */
const connection = {
  RESP: 2,
  disableOfflineQueue: true,
  commandOptions: { timeout: common.requestTimeoutMs },
  pingInterval: PING_INTERVAL_MS,
  maintNotifications: "disabled",
} as const;

const settings: ClientSettings = {
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

/** A standalone client or a cluster's, as far as opening and closing care. */
interface Client {
  on(event: "error" | "node-error", listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  close(): Promise<unknown>;
  destroy(): void;
}

/**
 * Connects, again and again until the deadline: a cluster's client gives up when no seed answers, and a store may
 * still be starting.
 * @throws Error with the last thing that went wrong, when it is not connected by the deadline
 */
async function connect(client: Client): Promise<void> {
  let last = "no answer";
  const note = (error: Error) => {
    last = error.message || String((error as NodeJS.ErrnoException).code);
  };
  // These listeners stay for good: a store that is lost later is a failed consume, never an unhandled 'error'.
  client.on("error", note);
  client.on("node-error", note);
  let late = false;
  const attempts = async () => {
    while (!late) {
      const connected = await client.connect().then(
        () => true,
        () => false,
      );
      // One that was destroyed while it was connecting comes alive all the same, and would never be closed.
      if (connected && late) client.destroy();
      if (connected) return;
      await delay(common.reconnectDelayMs);
    }
  };
  await new Promise<void>((resolve, reject) => {
    const deadline = setTimeout(() => {
      late = true;
      client.destroy();
      reject(new Error(last));
    }, OPEN_DEADLINE_MS);
    attempts().then(() => {
      clearTimeout(deadline);
      resolve();
    });
  });
}

/**
 * Waits for the replies still due, but not for a store that hangs or is gone: those connections are cut.
 * @param connections all that may be open; a cluster's client forgets them as soon as it begins to close
 */
async function close(client: Client, connections: readonly Pick<Client, "destroy">[]): Promise<void> {
  const patience = setTimeout(() => {
    for (const each of connections) each.destroy();
  }, CLOSE_PATIENCE_MS);
  // It rejects when it is closed already.
  await client.close().catch(() => undefined);
  clearTimeout(patience);
}

/** @throws Error for a version from before these were its methods: it would be told apart only when it ends */
function requireMethods(client: object): void {
  for (const method of ["close", "destroy"]) {
    if (!(method in client)) throw new Error(`this version's client has no ${method}()`);
  }
}

/** User and password of a store that somebody else runs. */
function credentials({ access }: StorePlace) {
  return {
    ...(access?.username ? { username: access.username } : {}),
    ...(access?.password ? { password: access.password } : {}),
  };
}

const encryption = ({ access }: StorePlace) => (access?.tls ? ({ tls: true, ...access.tls } as const) : {});

async function openStandalone(
  create: typeof createClient,
  place: StorePlace,
  version: string,
): Promise<OpenClient> {
  const client = create({
    ...connection,
    ...credentials(place),
    socket: { ...socket, ...encryption(place), ...place.nodes[0] },
  });
  requireMethods(client);
  await connect(client);
  return {
    handle: client,
    version,
    settings,
    storeVersion: async () => versionFromInfo(place.store, [await client.info("server")]),
    shardKeys: singleShardKeys,
    close: () => close(client, [client]),
  };
}

async function openCluster(
  create: typeof createCluster,
  place: StorePlace,
  version: string,
): Promise<OpenClient> {
  const client = create({
    RESP: connection.RESP,
    rootNodes: place.nodes.map((node) => ({ socket: node })),
    defaults: { ...connection, ...credentials(place), socket: { ...socket, ...encryption(place) } },
    useReplicas: false,
  });
  requireMethods(client);
  await connect(client);
  const primaries = () => Promise.all(client.masters.map((node) => client.nodeClient(node)));
  const ask = async (...words: string[]) => (await primaries())[0]?.sendCommand(["CLUSTER", ...words]);
  return {
    handle: client,
    version,
    settings,
    storeVersion: async () => {
      const nodes = await primaries();
      return versionFromInfo(place.store, await Promise.all(nodes.map((node) => node.info("server"))));
    },
    shardKeys: () => shardKeys({ slots: () => ask("SLOTS"), keySlot: (key) => ask("KEYSLOT", key) }),
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
  topologies: ["standalone", "cluster"],
  control: false,
  survivesStoreRestart: true,
  survivesScriptFlush: true,
  limiter: "rate-limiter-flexible",
  // Without `useRedisPackage` the class calls methods that this library does not have.
  flexible: { className: "RateLimiterRedis", options: { useRedisPackage: true }, script: { kind: "eval" } },
  // It is this client's own.
  sameScript: {},
  autoPipelining: () => "it has no such setting, it always sends the commands of one turn together",
  async open(place, { libraries = ownLibraries } = {}) {
    const { createClient, createCluster } = await libraries.load(PACKAGE, () => import("redis"));
    const version = libraries.version(PACKAGE);
    return place.topology === "cluster"
      ? openCluster(createCluster, place, version)
      : openStandalone(createClient, place, version);
  },
};
