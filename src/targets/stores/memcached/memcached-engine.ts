import type { StoreEngine } from "../../target-types.js";

/** Starts and reads memcached by its text protocol. It has no scripts. */
export const memcached: StoreEngine = {
  id: "memcached",
  defaultPort: 11_211,
  evidence: ["decisions", "keys", "evictions", "restarts", "memory", "cpu"],
  faults: {
    failover: "memcached has no replicas",
    "flush-scripts": "memcached has no scripts",
    "flush-keys": true,
    "fill-memory": "memcached evicts keys when its memory is full",
  },
  nodeArguments: (store, _topology, { bind, port }) => [
    "-l",
    bind,
    "-p",
    String(port),
    // Started as root it insists on another user; started as anyone else it ignores this.
    "-u",
    "nobody",
    ...(store.arguments ?? []),
  ],
  connect: async (nodes, access) => (await import("./memcached-session.js")).connect(nodes, access),
};
