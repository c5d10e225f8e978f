import type { Node } from "../../../contract/env.js";
import type { StoreAccess } from "../../../contract/store-url.js";
import { findTopology, isCluster } from "../../topologies.js";
import type { StoreDescription, StoreSession } from "../../types.js";
import { waitUntil } from "../wait-until.js";
import { clusterProblem, formCluster } from "./cluster.js";
import { discover } from "./discovery.js";
import { injectFault } from "./faults.js";
import { missingFeatures, prepareOperation } from "./features.js";
import { persistKeys, storedKeys } from "./keys.js";
import { modulesOf } from "./modules.js";
import { connectNode } from "./nodes.js";
import { diagnoseNode, readNode, readNumbers, readSettings, resetStore } from "./readings.js";

export async function connect(
  places: readonly Node[],
  access: StoreAccess,
  store?: StoreDescription,
): Promise<StoreSession> {
  const nodes = places.map((place) => connectNode(place, access, { asksInfo: !store?.isNamed }));
  return {
    ready: (topology, deadlineMs) =>
      waitUntil("store", deadlineMs, async () => {
        for (const node of nodes) await node.call("PING");
        return isCluster(topology) ? clusterProblem(nodes, findTopology(topology)) : undefined;
      }),
    form: (topology, deadlineMs) => formCluster(nodes, findTopology(topology), deadlineMs),
    reset: (deadlineMs) => resetStore(nodes, deadlineMs),
    read: (store, commands) => Promise.all(nodes.map((node) => readNode(node, store, commands))),
    diagnose: (commands = store?.decisionCommands) =>
      Promise.all(nodes.map((node) => diagnoseNode(node, commands))),
    settings: async () => (store?.isNamed ? readSettings(nodes).catch(() => ({})) : readSettings(nodes)),
    numbers: (keys) => readNumbers(nodes, keys),
    storedKeys: () => storedKeys(nodes),
    persistKeys: () => persistKeys(nodes),
    modules: () => modulesOf(nodes),
    inject: (fault, deadlineMs) => injectFault(nodes, fault, deadlineMs),
    features: () => missingFeatures(nodes),
    prepare: (workload) => prepareOperation(nodes, workload),
    discover: () => discover(nodes),
    close() {
      for (const node of nodes) node.close();
    },
  };
}
