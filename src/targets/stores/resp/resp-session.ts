import type { Workload } from "../../../contract/configuration.js";
import type { StoreFault, StoreFaultAction } from "../../../contract/probe-env.js";
import type { Discovery, ProbeReport, StoredKeys, StoreFeature } from "../../../contract/store.js";
import type { StoreAccess } from "../../../contract/store-url.js";
import type { Node } from "../../../kit/env.js";
import { environmentError, messageOf } from "../../../kit/errors.js";
import {
  findOperation,
  fixedWindowScript,
  KEYSPACE,
  keyName,
} from "../../load-programs/operations.js";
import type { StoreDescription, StoreSession } from "../../target-types.js";
import { findTopology, isCluster, topologies, UNKNOWN_HOST } from "../../topologies.js";
import { waitUntil } from "../deciding.js";
import { modulesOf } from "./modules.js";
import {
  clusterProblem,
  connectNode,
  formCluster,
  type StoreNode,
  unlessRefused,
} from "./nodes.js";
import {
  diagnoseNode,
  isReplica,
  readNode,
  readNumbers,
  readSettings,
  resetStore,
} from "./readings.js";
import { storesByFields } from "./resp-version.js";

/** Keys of one reply, roughly, and calls that are under way together. */
const AT_ONCE = 1000;
const MOST_EXAMPLES = 5;

/**
 * Calls `use` with some keys at a time. SCAN passes by what has ended, and may name a key twice.
 */
async function scan(
  node: StoreNode,
  use: (keys: readonly string[]) => Promise<void>,
): Promise<void> {
  let cursor = "0";
  do {
    const [next, keys] = (await node.call("SCAN", cursor, "COUNT", AT_ONCE)) as [string, string[]];
    await use(keys);
    cursor = next;
  } while (cursor !== "0");
}

async function primaries(nodes: readonly StoreNode[]): Promise<StoreNode[]> {
  const replicas = await Promise.all(nodes.map(isReplica));
  return nodes.filter((_, index) => !replicas[index]);
}

/** All keys of the primaries. Only called for a store that the harness has started. */
export async function storedKeys(nodes: readonly StoreNode[]): Promise<StoredKeys> {
  const found = new Set<string>();
  let without_end = 0;
  for (const node of await primaries(nodes)) {
    await scan(node, async (keys) => {
      const fresh = keys.filter((key) => !found.has(key));
      const left = await Promise.all(fresh.map((key) => node.call("PTTL", key)));
      for (const [index, key] of fresh.entries()) {
        // It may have ended in the meantime.
        if (Number(left[index]) === -2) continue;
        found.add(key);
        if (Number(left[index]) === -1) without_end++;
      }
    });
  }
  return { keys: found.size, without_end, examples: [...found].slice(0, MOST_EXAMPLES) };
}

/** Takes the end from all keys. Only called for a store that the harness has started. */
export async function persistKeys(nodes: readonly StoreNode[]): Promise<number> {
  let persisted = 0;
  for (const node of await primaries(nodes)) {
    await scan(node, async (keys) => {
      const answers = await Promise.all(keys.map((key) => node.call("PERSIST", key)));
      persisted += answers.filter((answer) => Number(answer) === 1).length;
    });
  }
  return persisted;
}

/**
 * The limit of the memory, as a share of what is used: a bit less, so that freed buffers make no
 * room.
 */
const FULL_SHARE = 0.95;
/** So that the store drops no keys before others come: its buffers take memory, too. */
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
    const own = lines.find((line) => line.includes("myself"))?.split(" ");
    if (own?.[2]?.includes("slave") && own[3] === id) return node;
  }
  throw environmentError(`${primary.name} has no replica that could take over`);
}

/**
 * In agreement with its primary, so that no write is lost; resolves when the replica has become the
 * primary.
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
  const used = Number((await node.info("memory")).get("used_memory"));
  if (!Number.isFinite(used))
    throw environmentError(`${node.name}: INFO has no number used_memory`);
  await node.call("CONFIG", "SET", "maxmemory-policy", evicts ? "volatile-lru" : "noeviction");
  const limit = evicts ? used + EVICTION_ROOM_BYTES : Math.floor(FULL_SHARE * used);
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
  // In the background: the keys are gone at once, and freeing them is no fault of its own.
  "flush-keys": (nodes) => onPrimaries(nodes, (node) => node.call("FLUSHALL", "ASYNC")),
  "fill-memory": (nodes, fault) => onEach(nodes, (node) => fillMemory(node, fault)),
  "free-memory": (nodes, { settings = {} }) => onEach(nodes, (node) => freeMemory(node, settings)),
};

/** @throws environmentError that names the node which refuses */
async function injectFault(nodes: Nodes, fault: StoreFault, deadlineMs: number): Promise<void> {
  try {
    await faults[fault.action](nodes, fault, deadlineMs);
  } catch (error) {
    throw environmentError(`${fault.action}: ${messageOf(error)}`, { cause: error });
  }
}

const FILLED_AT_ONCE = 500;

const tests: Readonly<Record<StoreFeature, (node: StoreNode) => Promise<boolean>>> = {
  EVAL: async (node) => Number(await node.call("EVAL", "return 7", 0)) === 7,
  HELLO: async (node) => Array.isArray(await node.call("HELLO", 2)),
  CONFIG: async (node) => Array.isArray(await node.call("CONFIG", "GET", "maxmemory")),
  commandstats: async (node) =>
    [...(await node.info("commandstats")).keys()].some((name) => name.startsWith("cmdstat_")),
  DBSIZE: async (node) => Number.isInteger(Number(await node.call("DBSIZE"))),
  used_memory: async (node) => Number((await node.info("memory")).get("used_memory")) > 0,
};

/** What the first node lacks. A server may answer with anything, so every refusal counts. */
async function missingFeatures([first]: readonly StoreNode[]): Promise<StoreFeature[]> {
  const missing: StoreFeature[] = [];
  if (!first) return missing;
  for (const [feature, test] of Object.entries(tests))
    if (!(await test(first).catch(() => false))) missing.push(feature as StoreFeature);
  return missing;
}

/**
 * Writes all keys that the operation reads or overwrites, and loads its script.
 * @returns how many keys were written, and the command that runs the script: by its sha1 where the
 *   server can
 * @throws environmentError when the server refuses a command
 */
async function prepareOperation(
  [first]: readonly StoreNode[],
  { id, payload_bytes = 1, keys = KEYSPACE }: Workload,
): Promise<NonNullable<ProbeReport["prepared"]>> {
  const { filledKeys, needs } = findOperation(id);
  if (!first) return { filled: 0 };
  const value = "x".repeat(payload_bytes);
  for (let from = 0; filledKeys !== undefined && from < keys; from += FILLED_AT_ONCE) {
    const numbers = Array.from(
      { length: Math.min(FILLED_AT_ONCE, keys - from) },
      (_, index) => from + index,
    );
    await Promise.all(
      numbers.map((number) => first.call("SET", keyName(filledKeys, number), value)),
    );
  }
  const filled = filledKeys === undefined ? 0 : keys;
  return needs === "EVAL" ? { filled, script: await scriptCommand(first) } : { filled };
}

async function scriptCommand(node: StoreNode): Promise<string[]> {
  const text = await fixedWindowScript();
  const sha1 = await node.call("SCRIPT", "LOAD", text).catch(() => undefined);
  return typeof sha1 === "string" ? ["EVALSHA", sha1] : ["EVAL", text];
}

/**
 * `id host:port@bus,name flags primary …` in a line of CLUSTER NODES; a node that was not met yet
 * has no host.
 */
const NODE_LINE = /^(?<id>\S+) (?<ip>\S*):(?<port>\d+)@\S+ (?<flags>\S+)/;

/**
 * The endpoint of each node by its id, as clients get it: a name where the cluster prefers names.
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
 * All nodes of the cluster by their announced endpoints, primaries first, and how many replicas are
 * among them.
 */
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

/**
 * The topology with these numbers of nodes; of other clusters `cluster`, whose check then names
 * what is missing.
 */
function topologyOf(clustered: boolean, nodes: number, replicas: number): string {
  if (!clustered) return "standalone";
  const found = topologies.find(
    (topology) =>
      isCluster(topology.id) &&
      topology.replicas === replicas &&
      topology.primaries === nodes - replicas,
  );
  return found?.id ?? "cluster";
}

/**
 * Detects the type, version and topology of the store at the first node, and the addresses of its
 * nodes.
 * @throws environmentError for an unknown type of store
 */
export async function discover([first]: readonly StoreNode[]): Promise<Discovery> {
  if (!first) throw environmentError("no store was named");
  const server = await first.info("server");
  const [found] = storesByFields((field) => server.has(field));
  if (!found)
    throw environmentError(`${first.name} is an unknown type of store: INFO reports no version`);
  const clustered = (await unlessRefused(first.info("cluster")))?.get("cluster_enabled") === "1";
  const { nodes, replicas } = clustered
    ? await clusterNodes(first)
    : { nodes: [first.place], replicas: 0 };
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
    settings: async () =>
      store?.isNamed ? readSettings(nodes).catch(() => ({})) : readSettings(nodes),
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
