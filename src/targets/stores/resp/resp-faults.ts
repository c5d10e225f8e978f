import type { StoreFault, StoreFaultAction } from "../../../contract/probe-env.js";
import { environmentError, messageOf } from "../../../kit/errors.js";
import { waitUntil } from "../deciding.js";
import { type StoreNode, unlessRefused } from "./nodes.js";
import { isReplica } from "./readings.js";

/**
 * The limit of the memory, as a share of what is used: a bit less, so that freed buffers make no
 * room.
 */
const FULL_SHARE = 0.95;
/**
 * This much memory is free, so that the store drops no keys before others come, because its buffers
 * take memory, too.
 */
const EVICTION_ROOM_BYTES = 256 * 1024;
/**
 * In the order of their restoring: with its policy back before its limit the store would evict
 * keys.
 */
const LIMIT_SETTINGS = ["maxmemory", "maxmemory-policy"] as const;

type Nodes = readonly StoreNode[];

const onEach = async (nodes: Nodes, work: (node: StoreNode) => Promise<unknown>): Promise<void> => {
  await Promise.all(nodes.map(work));
};

const onPrimaries = (nodes: Nodes, work: (node: StoreNode) => Promise<unknown>): Promise<void> =>
  onEach(nodes, async (node) => {
    if (!(await isReplica(node))) await work(node);
  });

async function replicaOf(nodes: Nodes, primary: StoreNode): Promise<StoreNode> {
  const id = String(await primary.call("CLUSTER", "MYID"));
  for (const node of nodes) {
    const lines = String(await node.call("CLUSTER", "NODES")).split("\n");
    const ownLine = lines.find((line) => line.includes("myself"));
    const [, , flags, primaryId] = ownLine?.split(" ") ?? [];
    if (flags?.includes("slave") && primaryId === id) return node;
  }
  throw environmentError(`${primary.name} has no replica that could take over`);
}

/**
 * Lets a replica take over in agreement with its primary, so that no write is lost. It resolves
 * when the replica has become the primary.
 */
async function failOver(nodes: Nodes, primary: StoreNode, deadlineMs: number): Promise<void> {
  const replica = await replicaOf(nodes, primary);
  await replica.call("CLUSTER", "FAILOVER");
  await waitUntil("replica", deadlineMs, async () =>
    (await isReplica(replica))
      ? `${replica.name} has not taken over from ${primary.name}`
      : undefined,
  );
}

/** A store that drops counters is another fault than one that refuses writes. */
async function fillMemory(node: StoreNode, { evicts }: StoreFault): Promise<void> {
  const usedBytes = Number((await node.info("memory")).get("used_memory"));
  if (!Number.isFinite(usedBytes))
    throw environmentError(`${node.name}: INFO has no number used_memory`);

  await node.call("CONFIG", "SET", "maxmemory-policy", evicts ? "volatile-lru" : "noeviction");
  const limit = evicts ? usedBytes + EVICTION_ROOM_BYTES : Math.floor(FULL_SHARE * usedBytes);
  await node.call("CONFIG", "SET", "maxmemory", limit);
}

async function freeMemory(
  node: StoreNode,
  before: Readonly<Record<string, string>>,
): Promise<void> {
  for (const name of LIMIT_SETTINGS) {
    const value = before[name];
    if (value !== undefined) await node.call("CONFIG", "SET", name, value);
  }
}

const faults: Readonly<
  Record<StoreFaultAction, (nodes: Nodes, fault: StoreFault, deadlineMs: number) => Promise<void>>
> = {
  failover: async (nodes, { node = 0 }, deadlineMs) => {
    const primary = nodes[node];
    if (!primary) throw environmentError(`there is no node ${node + 1} to take over from`);
    await failOver(nodes, primary, deadlineMs);
  },
  "flush-scripts": async (nodes) => {
    await onEach(nodes, (node) => node.call("SCRIPT", "FLUSH"));
    // Functions are data, which a replica gets from its primary.
    await onPrimaries(nodes, (node) => unlessRefused(node.call("FUNCTION", "FLUSH")));
  },
  // The keys are gone at once, and are freed in the background, because freeing them is no part of
  // the fault.
  "flush-keys": (nodes) => onPrimaries(nodes, (node) => node.call("FLUSHALL", "ASYNC")),
  "fill-memory": (nodes, fault) => onEach(nodes, (node) => fillMemory(node, fault)),
  "free-memory": (nodes, { settings = {} }) => onEach(nodes, (node) => freeMemory(node, settings)),
};

/** @throws environmentError that names the node which refuses */
export async function injectFault(
  nodes: Nodes,
  fault: StoreFault,
  deadlineMs: number,
): Promise<void> {
  try {
    await faults[fault.action](nodes, fault, deadlineMs);
  } catch (error) {
    throw environmentError(`${fault.action}: ${messageOf(error)}`, { cause: error });
  }
}
