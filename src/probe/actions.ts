import type { ProbeAction, ProbeRequest } from "../contract/probe-env.js";
import type { ProbeReport } from "../contract/store.js";
import type { StoreAccess } from "../contract/store-url.js";
import { findStore, findTopology } from "../targets/resolve.js";
import { clusterProblem, formCluster } from "./cluster.js";
import { discover } from "./discovery.js";
import { readNode, readSettings, resetStore } from "./readings.js";
import { type StoreNode, waitUntil, withNodes } from "./store-nodes.js";

async function perform(
  action: ProbeAction,
  { store, topology }: ProbeRequest,
  nodes: readonly StoreNode[],
  deadlineMs: number,
): Promise<ProbeReport> {
  const began = Date.now();
  const elapsed = () => (Date.now() - began) / 1000;
  switch (action) {
    case "discover":
      return { discovered: await discover(nodes) };
    case "form":
      await formCluster(nodes, deadlineMs);
      return { formed_in_s: elapsed() };
    case "ready":
      await waitUntil("store", deadlineMs, async () => {
        for (const node of nodes) await node.call("PING");
        return topology === "cluster" ? clusterProblem(nodes) : undefined;
      });
      return { ready_in_s: elapsed() };
    case "reset":
      await resetStore(nodes, deadlineMs);
      return { flushed: true };
    case "read":
      return { readings: await Promise.all(nodes.map((node) => readNode(node, store))) };
    case "settings":
      return { settings: await readSettings(nodes) };
  }
}

/**
 * Performs the actions in order, on new connections: between two requests the probe has no connection to the store.
 * @throws usageError for an unknown store or topology; environmentError when the store does not answer in time
 */
export async function performAll(request: ProbeRequest, access: StoreAccess): Promise<ProbeReport> {
  findStore(request.store);
  findTopology(request.topology);
  const deadlineMs = Date.now() + request.timeout_s * 1000;
  return withNodes(request.nodes, access, async (nodes) => {
    await waitUntil("store", deadlineMs, async () => {
      for (const node of nodes) await node.call("PING");
      return undefined;
    });
    let all: ProbeReport = {};
    for (const action of request.actions)
      all = { ...all, ...(await perform(action, request, nodes, deadlineMs)) };
    return all;
  });
}
