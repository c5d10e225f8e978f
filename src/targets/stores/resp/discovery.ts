import type { Node } from "../../../contract/env.js";
import { environmentError } from "../../../contract/errors.js";
import type { Discovery } from "../../../contract/store.js";
import { isCluster, topologies, UNKNOWN_HOST } from "../../topologies.js";
import { modulesOf } from "./modules.js";
import { type StoreNode, unlessRefused } from "./nodes.js";
import { storesByFields } from "./version.js";

/** `id host:port@bus,name flags primary …` in a line of CLUSTER NODES; a node that was not met yet has no host. */
const NODE_LINE = /^(?<id>\S+) (?<ip>\S*):(?<port>\d+)@\S+ (?<flags>\S+)/;

/** The endpoint of each node by its id, as clients get it: a name where the cluster prefers names. */
async function endpoints(node: StoreNode): Promise<Map<string, string | null>> {
  const ranges = (await node.call("CLUSTER", "SLOTS")) as [
    number,
    number,
    ...[string | null, number, string][],
  ][];
  return new Map(ranges.flatMap(([, , ...nodes]) => nodes.map(([host, , id]) => [id, host] as const)));
}

/** All nodes of the cluster by their announced endpoints, primaries first, and how many replicas are among them. */
async function clusterNodes(asked: StoreNode): Promise<{ nodes: Node[]; replicas: number }> {
  const endpointOf = await endpoints(asked);
  const lines = String(await asked.call("CLUSTER", "NODES")).split("\n");
  const nodes = lines.flatMap((line) => {
    const { id = "", ip, port, flags } = NODE_LINE.exec(line)?.groups ?? {};
    if (!port || !flags || /fail|noaddr|handshake/.test(flags)) return [];
    const announced = endpointOf.has(id) ? endpointOf.get(id) : ip;
    const host = announced && announced !== UNKNOWN_HOST ? announced : asked.place.host;
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
  const { nodes, replicas } = clustered ? await clusterNodes(first) : { nodes: [first.place], replicas: 0 };
  const modules = Object.keys(await modulesOf([first]));
  const memory = await unlessRefused(first.info("memory"));
  const [max, policy] = [memory?.get("maxmemory"), memory?.get("maxmemory_policy")];
  return {
    store: found.id,
    version: server.get(found.versionField) ?? "",
    topology: topologyOf(clustered, nodes.length, replicas),
    nodes,
    ...(modules.length > 0 ? { modules } : {}),
    ...(max !== undefined && policy ? { memory: { max_bytes: Number(max), policy } } : {}),
  };
}
