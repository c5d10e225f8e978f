import type { StoreEngine } from "../../types.js";
import { confArguments } from "./conf.js";

/** Servers that speak RESP and answer INFO: Valkey, Redis and what is compatible with them. */
export const resp: StoreEngine = {
  id: "resp",
  defaultPort: 6379,
  evidence: ["decisions", "scripts", "keys", "evictions", "restarts", "memory", "cpu"],
  faults: { failover: true, "flush-scripts": true, "flush-keys": true, "fill-memory": true },
  nodeArguments: (store, topology, { bind, port, secondPort, folder, tls }) => [
    ...(tls ? ["--port", "0", "--tls-port"] : ["--port"]),
    ...[String(port), "--bind", bind],
    ...(tls ? ["--tls-cert-file", tls.cert, "--tls-key-file", tls.key, "--tls-auth-clients", "no"] : []),
    ...(store.isNamed ? [] : ["--dir", folder]),
    ...(topology.primaries + topology.replicas > 1 ? ["--cluster-port", String(secondPort)] : []),
    ...confArguments(store),
    ...(store.arguments ?? []),
    ...topology.nodeArguments,
  ],
  connect: async (nodes, access, store) => (await import("./session.js")).connect(nodes, access, store),
};
