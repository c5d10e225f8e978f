/** Settings that all clients share, so that a difference between clients is none of settings. */
const SETTINGS = {
  protocol: "RESP2",
  auto_pipelining: false,
  offline_queue: false,
  auto_resend_unfulfilled_commands: false,
  request_timeout_ms: 5000,
  connect_timeout_ms: 3000,
  reconnect_delay_ms: 200,
  tcp_no_delay: true,
  tcp_keep_alive_ms: 30000,
  read_from: "primary",
};
/** The same in the words of the library. */
const OPTIONS = {
  protocol: 2,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 5000,
  connectTimeout: 3000,
  retryStrategy: () => 200,
  noDelay: true,
  keepAlive: 30000,
};

/** A store may still be starting: the library tries again until it is ready, or 5 s are over. */
async function open({ store, nodes: [{ host, port }], access }) {
  const { Redis } = await import("ioredis");
  const client = new Redis({ ...OPTIONS, ...access, host, port });
  client.on("error", () => {});
  await new Promise((resolve, reject) => {
    client.once("ready", resolve);
    setTimeout(() => reject(new Error("the store is not ready")), 5000).unref();
  }).catch((error) => {
    client.disconnect();
    throw error;
  });

  const versionField = new RegExp(`^${store}_version:(\\S+)`, "m");
  return {
    handle: client,
    version: "1.0.0",
    settings: SETTINGS,
    storeVersion: async () => versionField.exec(await client.info("server"))?.[1],
    shardKeys: async () => ["preload"],
    close: async () => client.disconnect(),
  };
}

/** @type {import("ratelimit-bench/plugin").Plugin} */
export default {
  clients: [
    {
      id: "my-ioredis",
      stores: ["valkey", "redis"],
      topologies: ["standalone"],
      control: false,
      survivesStoreRestart: true,
      survivesScriptFlush: true,
      limiter: "rate-limiter-flexible",
      flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
      autoPipelining: () => "it was not asked for",
      open,
    },
  ],
};
