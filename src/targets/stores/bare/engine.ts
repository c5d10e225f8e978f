import type { StoreEngine } from "../../types.js";

/** A server that speaks the protocol of memcached, but has no statistics. */
export const bare: StoreEngine = {
  id: "bare",
  defaultPort: 11_211,
  evidence: [],
  nodeArguments: (_store, _topology, { bind, port }) => ["-l", bind, "-p", String(port), "-u", "nobody"],
  async connect(nodes) {
    const { MemcachedNode } = await import("../memcached/node.js");
    const all = nodes.map((node) => new MemcachedNode(node));
    return {
      async ready(_topology, deadlineMs) {
        for (const node of all) await node.call("version", Math.max(1, deadlineMs - Date.now()));
      },
      async form() {},
      async reset() {
        for (const node of all) await node.call("flush_all");
      },
      read: async () => all.map(() => ({ version: "unknown", uptime_s: 0 })),
      settings: async () => ({}),
      discover: async () => ({
        store: "bare",
        version: "unknown",
        topology: "standalone",
        nodes: [...nodes],
      }),
      close() {
        for (const node of all) node.close();
      },
    };
  },
};
