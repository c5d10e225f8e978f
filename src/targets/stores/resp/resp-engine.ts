import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { StoreDescription, StoreEngine } from "../../target-types.js";

/** The project's folder: the same relative path from the sources and from the build. */
const root = new URL("../../../../", import.meta.url);

/**
 * The settings of a store's configuration file as arguments of its program, so that the file is not
 * needed where the program runs. One directive per line; `""` is an empty value.
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

/** Servers that speak RESP and answer INFO: Valkey, Redis and what is compatible with them. */
export const resp: StoreEngine = {
  id: "resp",
  defaultPort: 6379,
  evidence: ["decisions", "scripts", "keys", "evictions", "restarts", "memory", "cpu"],
  faults: { failover: true, "flush-scripts": true, "flush-keys": true, "fill-memory": true },
  nodeArguments: (store, topology, { bind, port, secondPort, folder, tls }) => [
    ...(tls ? ["--port", "0", "--tls-port"] : ["--port"]),
    ...[String(port), "--bind", bind],
    ...(tls
      ? ["--tls-cert-file", tls.cert, "--tls-key-file", tls.key, "--tls-auth-clients", "no"]
      : []),
    ...(store.isNamed ? [] : ["--dir", folder]),
    ...(topology.primaries + topology.replicas > 1 ? ["--cluster-port", String(secondPort)] : []),
    ...confArguments(store),
    ...(store.arguments ?? []),
    ...topology.nodeArguments,
  ],
  connect: async (nodes, access, store) =>
    (await import("./resp-session.js")).connect(nodes, access, store),
};
