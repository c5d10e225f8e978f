import type { ProbeAction, ProbeRequest } from "../contract/probe-env.js";
import type { ProbeReport } from "../contract/store.js";
import type { StoreAccess } from "../contract/store-url.js";
import { findStore, findTopology } from "../targets/resolve.js";
import { clusterLacks, formCluster } from "./cluster.js";
import { discover } from "./discovery.js";
import { type StoreNode, until, withNodes } from "./nodes.js";
import { readNode, readSettings, resetStore } from "./statistics.js";

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
      await until("store", deadlineMs, async () => {
        for (const node of nodes) await node.call("PING");
        return topology === "cluster" ? clusterLacks(nodes) : undefined;
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
 * Does what is asked, in the order given, over connections of its own: between two requests the store has none of ours.
 * @throws usageError for an unknown store or topology; environmentError when the store does not answer in time
 */
export async function performAll(request: ProbeRequest, access: StoreAccess): Promise<ProbeReport> {
  findStore(request.store);
  findTopology(request.topology);
  const deadlineMs = Date.now() + request.timeout_s * 1000;
  return withNodes(request.nodes, access, async (nodes) => {
    await until("store", deadlineMs, async () => {
      for (const node of nodes) await node.call("PING");
      return undefined;
    });
    let all: ProbeReport = {};
    for (const action of request.actions)
      all = { ...all, ...(await perform(action, request, nodes, deadlineMs)) };
    return all;
  });
}
