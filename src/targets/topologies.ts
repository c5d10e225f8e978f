import type { TopologyDescription } from "./types.js";

const standalone: TopologyDescription = { id: "standalone", primaries: 1, replicas: 0, nodeArguments: [] };

/** The smallest cluster that survives the loss of a node: each primary has one replica. */
export const cluster: TopologyDescription = {
  id: "cluster",
  primaries: 3,
  replicas: 3,
  nodeArguments: [
    "--cluster-enabled",
    "yes",
    "--cluster-node-timeout",
    "5000",
    // A replica synchronises at once, so that forming the cluster takes one second instead of six.
    "--repl-diskless-sync-delay",
    "0",
  ],
};

/** For targets without a store process. */
const none: TopologyDescription = { id: "none", primaries: 0, replicas: 0, nodeArguments: [] };

export const topologies: readonly TopologyDescription[] = [standalone, cluster, none];
