import { setTimeout as delay } from "node:timers/promises";
import type Memcached from "memcached";
import type { ClientSettings } from "../../contract/server-api.js";
import { ownLibraries } from "../libraries.js";
import type { ClientDescription, OpenClient, StorePlace } from "../target-types.js";
import { bounded, common, commonProperties, retried } from "./client-settings.js";
import { singleShardKeys } from "./shard-keys.js";

const PACKAGE = "memcached";

/**
 * docs/clients.md gives the reason for each option. With its defaults the library never recovers
 * from a restart of the store.
 */
const options = {
  poolSize: 10,
  /** How long connecting may take, in ms. */
  timeout: 500,
  /** How often getting a connection is attempted, and the ms between attempts. */
  retries: 2,
  minTimeout: 10,
  maxTimeout: 100,
  /** A server with this many failures is given up, and the library starts the program `ping`. */
  failures: 1_000_000_000,
  /** Failures are forgotten after this time, ms; its timer would keep the process alive. */
  failuresTimeout: 50,
  /** After a failure commands are refused for this time, ms. */
  retry: 50,
  /** An idle connection stays open. */
  idle: 0,
} as const;

const settings: ClientSettings = {
  protocol: "memcached text",
  auto_pipelining: false,
  offline_queue: false,
  auto_resend_unfulfilled_commands: false,
  max_retries_per_request: 0,
  request_timeout_ms: common.requestTimeoutMs,
  connect_timeout_ms: options.timeout,
  reconnect_delay_ms: options.retry,
  inflight_requests_limit: null,
  tcp_no_delay: true,
  tcp_keep_alive_ms: null,
  ip_family: 0,
  pool_size: options.poolSize,
  pool_retries: options.retries,
  pool_retry_min_ms: options.minTimeout,
  pool_retry_max_ms: options.maxTimeout,
  failures: options.failures,
  failures_timeout_ms: options.failuresTimeout,
  idle_timeout_ms: options.idle,
};

/** How long `close` waits for connections that are opening. */
const CLOSE_TIMEOUT_MS = 1_000;

/** The pools of connections by server, which `end` empties. */
type Pools = { connections: Record<string, { pending: number }> };

/**
 * Opens the first connection, which all commands then share: at once they would find the empty pool
 * full. @throws Error
 */
function versionOf(client: Memcached, timeoutMs: number): Promise<string> {
  const answered = new Promise<string>((resolve, reject) => {
    client.version((error, answers) => {
      const [answer] = Array.isArray(answers) ? answers : [answers];
      const version = (answer as { version?: string } | undefined)?.version;
      if (error || !version) reject(error ?? new Error("it names no version"));
      else resolve(version);
    });
  });
  return bounded(answered, timeoutMs);
}

/** Connections that are still opening are not in the pool yet, and `end` would miss them. */
async function close(client: Memcached): Promise<void> {
  client.end();
  const { connections } = client as unknown as Pools;
  const deadlineMs = performance.now() + CLOSE_TIMEOUT_MS;
  while (
    Object.values(connections).some(({ pending }) => pending > 0) &&
    performance.now() < deadlineMs
  )
    await delay(10);
  client.end();
}

async function open(
  Library: typeof Memcached,
  { nodes: [node] }: StorePlace,
  version: string,
): Promise<OpenClient> {
  if (!node) throw new Error("no node was given");
  const client = new Library(`${node.host}:${node.port}`, options);
  try {
    await retried((leftMs) => versionOf(client, leftMs));
  } catch (error) {
    await close(client);
    throw error;
  }
  return {
    handle: client,
    version,
    settings,
    storeVersion: () => versionOf(client, common.requestTimeoutMs),
    shardKeys: singleShardKeys,
    close: () => close(client),
  };
}

export const memcached: ClientDescription = {
  id: "memcached",
  package: PACKAGE,
  stores: ["memcached"],
  topologies: ["standalone"],
  // It has no scripts that a flush could take.
  ...commonProperties,
  limiter: "rate-limiter-flexible",
  // Callbacks that are under way when a connection is lost are never called.
  flexible: { className: "RateLimiterMemcache", timeoutMs: common.requestTimeoutMs },
  unsupportedReason: ({ block_s }) =>
    block_s > 0
      ? `memcached counts a block like a decision, so that decisions could not be checked with a block duration (${block_s} s was requested)`
      : undefined,
  autoPipelining: () => "its library has no switch for it",
  async open(place, { libraries = ownLibraries } = {}) {
    const { default: Library } = await libraries.load(PACKAGE, () => import("memcached"));
    return open(Library, place, libraries.version(PACKAGE));
  },
};
