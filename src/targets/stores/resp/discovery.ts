import type { Node } from "../../../contract/env.js";
import { environmentError } from "../../../contract/errors.js";
import type { Discovery } from "../../../contract/store.js";
import { isCluster, topologies } from "../../topologies.js";
import { modulesOf } from "./modules.js";
import { type StoreNode, unlessRefused } from "./nodes.js";
import { storesByFields } from "./version.js";

/** `id host:port@bus,name flags primary …` in a line of CLUSTER NODES. */
const NODE_LINE = /^\S+ (?<host>\S+):(?<port>\d+)@\S+ (?<flags>\S+)/;

/** All nodes of the cluster by their announced addresses, primaries first, and how many replicas are among them. */
function clusterNodes(text: string): { nodes: Node[]; replicas: number } {
  const nodes = text.split("\n").flatMap((line) => {
    const { host, port, flags } = NODE_LINE.exec(line)?.groups ?? {};
    if (!host || !port || !flags || /fail|noaddr|handshake/.test(flags)) return [];
    return [{ host, port: Number(port), primary: flags.includes("master") }];
  });
  const replicas = nodes.filter(({ primary }) => !primary);
  const ordered = [...nodes.filter(({ primary }) => primary), ...replicas];
  return { nodes: ordered.map(({ host, port }) => ({ host, port })), replicas: replicas.length };
}

/** The topology with these numbers of nodes; of other clusters `cluster`, whose check then names what is missing. */
function topologyOf(clustered: boolean, nodes: number, replicas: number): string {
  if (!clustered) return "standalone";
  const found = topologies.find(
    (topology) =>
      isCluster(topology.id) && topology.replicas === replicas && topology.primaries === nodes - replicas,
  );
  return found?.id ?? "cluster";
}

/**
 * Detects the type, version and topology of the store at the first node, and the addresses of its nodes.
 * @throws environmentError for an unknown type of store
 */
export async function discover([first]: readonly StoreNode[]): Promise<Discovery> {
  if (!first) throw environmentError("no store was named");
  const server = await first.info("server");
  const [found] = storesByFields((field) => server.has(field));
  if (!found) throw environmentError(`${first.name} is an unknown type of store: INFO reports no version`);
  const clustered = (await unlessRefused(first.info("cluster")))?.get("cluster_enabled") === "1";
  const { nodes, replicas } = clustered
    ? clusterNodes(String(await first.call("CLUSTER", "NODES")))
    : { nodes: [first.place], replicas: 0 };
  const modules = Object.keys(await modulesOf([first]));
  return {
    store: found.id,
    version: server.get(found.versionField) ?? "",
    topology: topologyOf(clustered, nodes.length, replicas),
    nodes,
    ...(modules.length > 0 ? { modules } : {}),
  };
}
