import type { NodePlace } from "../kit/env.js";
import { findKnown } from "./did-you-mean.js";
import type { TopologyDescription } from "./target-types.js";

const clusterArguments = ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000"];

export const topologies: readonly TopologyDescription[] = [
  { id: "standalone", primaries: 1, replicas: 0, nodeArguments: [] },
  /** The smallest cluster that survives the loss of a node: each primary has one replica. */
  {
    id: "cluster",
    primaries: 3,
    replicas: 3,
    // A replica synchronises at once, so that forming the cluster takes one second instead of six.
    nodeArguments: [...clusterArguments, "--repl-diskless-sync-delay", "0"],
  },
  /**
   * The smallest possible cluster, with three primaries and no replicas, for comparisons with
   * published figures.
   */
  { id: "cluster-3", primaries: 3, replicas: 0, nodeArguments: clusterArguments },
  /** The topology of targets without a store process. */
  { id: "none", primaries: 0, replicas: 0, nodeArguments: [] },
];

export const findTopology = (id: string): TopologyDescription =>
  findKnown("topology", topologies, id);

/** Whether its nodes share the slots of a cluster. */
export const isCluster = (id: string): boolean =>
  topologies.some((topology) => topology.id === id && topology.primaries > 1);

/**
 * What a cluster announces in place of a name that it does not know. Like no host at all, it means
 * the host that was asked.
 */
export const UNKNOWN_HOST = "?";

export function placeOfEndpoint(
  endpoint: string,
  [asked]: readonly NodePlace[],
): NodePlace | undefined {
  const [, host, port] = /^(.*):(\d+)$/.exec(endpoint) ?? [];
  const isUnknown = host === "" || host === "null" || host === UNKNOWN_HOST;
  return isUnknown && asked ? { host: asked.host, port: Number(port) } : undefined;
}
