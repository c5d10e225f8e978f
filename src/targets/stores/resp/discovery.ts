import type { Discovery } from "../../../contract/store.js";
import { definedOnly } from "../../../kit/defined-only.js";
import type { NodePlace } from "../../../kit/env.js";
import { environmentError } from "../../../kit/errors.js";
import { isCluster, topologies, UNKNOWN_HOST } from "../../topologies.js";
import { modulesOf } from "./modules.js";
import { type StoreNode, unlessRefused } from "./nodes.js";
import { storesByFields } from "./resp-version.js";

/**
 * `id host:port@bus,name flags primary …` in a line of CLUSTER NODES; a node that was not met yet
 * has no host.
 */
const NODE_LINE = /^(?<id>\S+) (?<ip>\S*):(?<port>\d+)@\S+ (?<flags>\S+)/;

/**
 * The endpoint of each node by its id, as clients get it. It is a name where the cluster
 * prefers names.
 */
async function endpoints(node: StoreNode): Promise<Map<string, string | null>> {
  const ranges = (await node.call("CLUSTER", "SLOTS")) as [
    number,
    number,
    ...[string | null, number, string][],
  ][];
  return new Map(
    ranges.flatMap(([, , ...nodes]) => nodes.map(([host, , id]) => [id, host] as const)),
  );
}

/**
 * All nodes of the cluster by their announced endpoints, primaries first, and how many
 * replicas are among them.
 */
async function clusterNodes(
  firstNode: StoreNode,
): Promise<{ nodes: NodePlace[]; replicas: number }> {
  const endpointOf = await endpoints(firstNode);
  const lines = String(await firstNode.call("CLUSTER", "NODES")).split("\n");
  const nodes = lines.flatMap((line) => {
    const { id = "", ip, port, flags } = NODE_LINE.exec(line)?.groups ?? {};
    if (!port || !flags || /fail|noaddr|handshake/.test(flags)) return [];
    const announced = endpointOf.has(id) ? endpointOf.get(id) : ip;
    const host = announced && announced !== UNKNOWN_HOST ? announced : firstNode.place.host;
    return [{ host, port: Number(port), primary: flags.includes("master") }];
  });
  const replicas = nodes.filter(({ primary }) => !primary);
  const ordered = [...nodes.filter(({ primary }) => primary), ...replicas];
  return { nodes: ordered.map(({ host, port }) => ({ host, port })), replicas: replicas.length };
}

/**
 * The topology with these numbers of nodes. Other clusters are `cluster`, whose check then
 * names what is missing.
 */
function topologyOf(isClustered: boolean, nodes: number, replicas: number): string {
  if (!isClustered) return "standalone";
  const topology = topologies.find(
    ({ id, primaries, replicas: expected }) =>
      isCluster(id) && expected === replicas && primaries === nodes - replicas,
  );
  return topology?.id ?? "cluster";
}

/**
 * Detects the type, version and topology of the store at the first node, and the addresses of its
 * nodes.
 * @throws environmentError for an unknown type of store
 */
export async function discover([first]: readonly StoreNode[]): Promise<Discovery> {
  if (!first) throw environmentError("no store was named");
  const server = await first.info("server");
  const [store] = storesByFields((field) => server.has(field));
  if (!store)
    throw environmentError(`${first.name} is an unknown type of store: INFO reports no version`);

  const cluster = await unlessRefused(first.info("cluster"));
  const isClustered = cluster?.get("cluster_enabled") === "1";
  const { nodes, replicas } = isClustered
    ? await clusterNodes(first)
    : { nodes: [first.place], replicas: 0 };

  const modules = Object.keys(await modulesOf([first]));
  return definedOnly({
    store: store.id,
    version: server.get(store.versionField) ?? "",
    topology: topologyOf(isClustered, nodes.length, replicas),
    nodes,
    modules: modules.length > 0 ? modules : undefined,
    memory: await memoryLimit(first),
  });
}

/**
 * The limit of the store's memory. It is undefined for a server that does not report it.
 */
async function memoryLimit(node: StoreNode): Promise<Discovery["memory"]> {
  const fields = await unlessRefused(node.info("memory"));
  const limit = fields?.get("maxmemory");
  const policy = fields?.get("maxmemory_policy");
  if (limit === undefined || !policy) return undefined;
  return { max_bytes: Number(limit), policy };
}
