import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { NodeAllocation, StoreDescription, StoreEngine } from "../../target-types.js";

/** The project's folder. It has the same relative path from the sources and from the build. */
const root = new URL("../../../../", import.meta.url);

/**
 * The settings of a store's configuration file as arguments of its program, so that the
 * file is not needed where the program runs. One directive per line; `""` is an empty value.
 * @returns an empty list for a store without a configuration file
 */
function confArguments({ conf }: StoreDescription): string[] {
  if (conf === undefined) return [];
  return readFileSync(fileURLToPath(new URL(conf, root)), "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .flatMap((line) => {
      const [name, ...values] = line.split(/\s+/);
      return [`--${name}`, ...values.map((value) => (value === '""' ? "" : value))];
    });
}

function addressArguments({ bind, port, tls }: NodeAllocation): string[] {
  if (!tls) return ["--port", String(port), "--bind", bind];
  return [
    "--port",
    "0",
    "--tls-port",
    String(port),
    "--bind",
    bind,
    "--tls-cert-file",
    tls.cert,
    "--tls-key-file",
    tls.key,
    "--tls-auth-clients",
    "no",
  ];
}

/** Servers that speak RESP and answer INFO: Valkey, Redis and what is compatible with them. */
export const resp: StoreEngine = {
  id: "resp",
  defaultPort: 6379,
  evidence: ["decisions", "scripts", "keys", "evictions", "restarts", "memory", "cpu"],
  faults: { failover: true, "flush-scripts": true, "flush-keys": true, "fill-memory": true },
  nodeArguments(store, topology, node) {
    const words = addressArguments(node);
    if (!store.isNamed) words.push("--dir", node.folder);
    if (topology.primaries + topology.replicas > 1)
      words.push("--cluster-port", String(node.secondPort));
    words.push(...confArguments(store), ...(store.arguments ?? []), ...topology.nodeArguments);
    return words;
  },
  connect: async (nodes, access, store) =>
    (await import("./resp-session.js")).connect(nodes, access, store),
};
