import type { StoreFeature } from "../../../contract/store.js";
import type { StoreAccess } from "../../../contract/store-url.js";
import type { NodePlace } from "../../../kit/env.js";
import type { StoreDescription, StoreSession } from "../../target-types.js";
import { findTopology, isCluster } from "../../topologies.js";
import { waitUntil } from "../deciding.js";
import { discover } from "./discovery.js";
import { modulesOf } from "./modules.js";
import { clusterProblem, connectNode, formCluster, type StoreNode } from "./nodes.js";
import { prepareOperation } from "./prepare-operation.js";
import { diagnoseNode, readNode, readNumbers, readSettings, resetStore } from "./readings.js";
import { injectFault } from "./resp-faults.js";
import { persistKeys, storedKeys } from "./stored-keys.js";

/** Whether a server has a feature. */
const tests: Readonly<Record<StoreFeature, (node: StoreNode) => Promise<boolean>>> = {
  EVAL: async (node) => Number(await node.call("EVAL", "return 7", 0)) === 7,
  HELLO: async (node) => Array.isArray(await node.call("HELLO", 2)),
  CONFIG: async (node) => Array.isArray(await node.call("CONFIG", "GET", "maxmemory")),
  commandstats: async (node) =>
    [...(await node.info("commandstats")).keys()].some((name) => name.startsWith("cmdstat_")),
  DBSIZE: async (node) => Number.isInteger(Number(await node.call("DBSIZE"))),
  used_memory: async (node) => Number((await node.info("memory")).get("used_memory")) > 0,
};

/**
 * What the first node lacks. A server may answer with anything, so every refusal counts.
 */
async function missingFeatures([first]: readonly StoreNode[]): Promise<StoreFeature[]> {
  const missing: StoreFeature[] = [];
  if (!first) return missing;

  for (const [feature, test] of Object.entries(tests)) {
    const isThere = await test(first).catch(() => false);
    if (!isThere) missing.push(feature as StoreFeature);
  }
  return missing;
}

export async function connect(
  places: readonly NodePlace[],
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
    settings: async () => {
      const settings = readSettings(nodes);
      return store?.isNamed ? settings.catch(() => ({})) : settings;
    },
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
