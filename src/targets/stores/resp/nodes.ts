import { lookup } from "node:dns/promises";
import { Redis } from "ioredis";
import type { StoreAccess } from "../../../contract/store-url.js";
import type { NodePlace } from "../../../kit/env.js";
import { type BenchError, environmentError, messageOf } from "../../../kit/errors.js";
import type { TopologyDescription } from "../../target-types.js";
import { LastingRefusal, waitUntil } from "../deciding.js";

const SLOTS = 16_384;

const clusterInfo = async (node: StoreNode) =>
  parseFields(String(await node.call("CLUSTER", "INFO")));

/** Address, port and bus port for MEET, which takes no host names. */
async function address(node: StoreNode): Promise<[string, number, number]> {
  const { address } = await lookup(node.place.host);
  const configured = (await unlessRefused(node.call("CONFIG", "GET", "cluster-port"))) as
    | string[]
    | undefined;
  return [address, node.place.port, Number(configured?.[1] ?? 0) || node.place.port + 10_000];
}

async function knownNodes(nodes: readonly StoreNode[]): Promise<string | undefined> {
  for (const node of nodes) {
    const knownCount = (await clusterInfo(node)).get("cluster_known_nodes");
    if (knownCount !== String(nodes.length))
      return `${node.name} knows ${knownCount} of ${nodes.length} nodes`;
  }
  return undefined;
}

/**
 * Why the cluster is not usable: state, slots, nodes and replica links, as every node
 * reports them.
 */
export async function clusterProblem(
  nodes: readonly StoreNode[],
  { primaries, replicas }: TopologyDescription,
): Promise<string | undefined> {
  const unknownNodes = await knownNodes(nodes);
  if (unknownNodes) return unknownNodes;
  for (const node of nodes) {
    const info = await clusterInfo(node);
    if (info.get("cluster_state") !== "ok")
      return `${node.name}: cluster_state is ${info.get("cluster_state")}`;
    if (info.get("cluster_slots_ok") !== String(SLOTS))
      return `${node.name}: ${info.get("cluster_slots_ok")} of ${SLOTS} slots are covered`;
    const replication = await node.info("replication");
    const link = replication.get("master_link_status");
    if (link !== undefined && link !== "up")
      return `${node.name}: the link to its primary is ${link}`;
    const listing = String(await node.call("CLUSTER", "NODES"));
    const roles = listing
      .split("\n")
      .filter((line) => /\bslave\b/.test(line) && !line.includes("fail"));
    if (roles.length !== replicas)
      return `${node.name} sees ${roles.length} of ${replicas} replicas`;
  }
  const replications = await Promise.all(nodes.map((node) => node.info("replication")));
  const replicasEach = String(replicas / primaries);
  const linked = replications.filter(
    (fields) => fields.get("role") === "master" && fields.get("connected_slaves") === replicasEach,
  );
  return linked.length === primaries
    ? undefined
    : `${linked.length} of ${primaries} primaries have ${replicasEach} replica${replicasEach === "1" ? "" : "s"}`;
}

/**
 * Forms a cluster of empty nodes: the first ones become primaries with equal shares of the slots,
 * and each of the others becomes the replica of one primary. Every runtime uses this code.
 * @throws environmentError when the nodes do not agree before the deadline
 */
export async function formCluster(
  nodes: readonly StoreNode[],
  topology: TopologyDescription,
  deadlineMs: number,
): Promise<void> {
  const { primaries: count, replicas } = topology;
  if (nodes.length !== count + replicas)
    throw new Error(`a cluster needs ${count + replicas} nodes`);
  await waitUntil("store nodes", deadlineMs, async () => {
    for (const node of nodes) await node.call("PING");
    return undefined;
  });
  const primaries = nodes.slice(0, count);
  // With distinct epochs the nodes need not resolve conflicts, which takes seconds.
  await Promise.all(
    nodes.map((node, index) => node.call("CLUSTER", "SET-CONFIG-EPOCH", index + 1)),
  );
  await Promise.all(
    primaries.map((node, index) =>
      node.call(
        "CLUSTER",
        "ADDSLOTSRANGE",
        Math.floor((index * SLOTS) / count),
        Math.floor(((index + 1) * SLOTS) / count) - 1,
      ),
    ),
  );
  // Every node meets every other node, because gossip would take seconds longer.
  const addresses = await Promise.all(nodes.map(address));
  await Promise.all(
    nodes.flatMap((node, index) =>
      addresses.slice(index + 1).map((other) => node.call("CLUSTER", "MEET", ...other)),
    ),
  );
  await waitUntil("cluster", deadlineMs, () => knownNodes(nodes));
  const ids = await Promise.all(primaries.map((node) => node.call("CLUSTER", "MYID")));
  for (const [index, replica] of nodes.slice(count).entries()) {
    const primary = String(ids[index % count]);
    // A replica must know that a node is a primary before it can follow it.
    await waitUntil("cluster", deadlineMs, async () => {
      await replica.call("CLUSTER", "REPLICATE", primary);
      return undefined;
    });
  }
  await waitUntil("cluster", deadlineMs, () => clusterProblem(nodes, topology));
}

/** A direct connection to one store node, whatever the topology. */
export interface StoreNode {
  place: NodePlace;
  name: string;
  call(...command: readonly [string, ...(string | number)[]]): Promise<unknown>;
  info(section: string): Promise<Map<string, string>>;
  close(): void;
}

/** Reads `name:value` lines, as INFO and CLUSTER INFO give them. */
export function parseFields(text: string): Map<string, string> {
  return new Map(
    text.split("\r\n").flatMap((line) => {
      const colon = line.indexOf(":");
      return colon > 0 && !line.startsWith("#")
        ? [[line.slice(0, colon), line.slice(colon + 1)] as const]
        : [];
    }),
  );
}

const COMMAND_TIMEOUT_MS = 10_000;

/**
 * The codes of TLS errors which mean that nobody whom this process trusts vouches for a
 * certificate.
 */
const UNKNOWN_AUTHORITY = [
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
];
const UNFIT_CERTIFICATE = [
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
];

/**
 * What mends a refusal that waiting does not change. It is undefined where the store may
 * still be starting.
 */
export function remedyFor(error: Error, { tls }: StoreAccess = {}): string | undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (/^WRONGPASS|invalid password|invalid username-password/i.test(error.message))
    return "mend user and password in STORE_URL";
  if (error.message.startsWith("NOAUTH"))
    return "STORE_URL needs a password: redis://user:password@host:port";
  if (/^ERR .*AUTH.* without any password configured/i.test(error.message))
    return "leave the password out of STORE_URL";
  if (UNKNOWN_AUTHORITY.includes(code))
    return tls?.ca === undefined
      ? "name the certificate of its authority with STORE_CA"
      : "STORE_CA holds the certificate of another authority";
  return UNFIT_CERTIFICATE.includes(code) ? "renew the store's certificate" : undefined;
}

/**
 * Connects to a node, which may still be starting: a call fails until it answers.
 * @param asksInfo whether INFO says when it is ready; a server without INFO would never be
 */
export function connectNode(
  place: NodePlace,
  access: StoreAccess,
  { asksInfo = true } = {},
): StoreNode {
  const { host, port } = place;
  const name = `${host}:${port}`;
  const connection = new Redis({
    host,
    port,
    ...access,
    protocol: 2,
    enableReadyCheck: asksInfo,
    maxRetriesPerRequest: null,
    // The probe must not hang when the store hangs.
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: () => 50,
  });
  // `waitUntil` waits for a node that is starting; the last refusal is only reported when it never
  // answers.
  let refusal: Error | undefined;
  connection.on("error", (error: Error) => {
    refusal = error;
  });
  const noAnswer = (): BenchError => {
    if (refusal === undefined) return environmentError(`${name} does not answer`);
    const remedy = remedyFor(refusal, access);
    if (remedy !== undefined)
      return new LastingRefusal(`${name}: ${messageOf(refusal).replace(/\.$/, "")}: ${remedy}`);
    return environmentError(`${name} does not answer: ${messageOf(refusal)}`);
  };
  const call: StoreNode["call"] = async (command, ...parameters) => {
    if (connection.status !== "ready") throw noAnswer();
    try {
      return await connection.call(command, ...parameters.map(String));
    } catch (error) {
      throw environmentError(`${name}: ${command}: ${messageOf(error)}`, { cause: error });
    }
  };
  return {
    place,
    name,
    call,
    info: async (section) => parseFields(String(await call("INFO", section))),
    close: () => connection.disconnect(),
  };
}

/** A refusal that says nothing about the command: the server gives another answer later. */
const PASSING = /\b(LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b/;

/**
 * The answer to a command that a server need not know or allow. It is undefined where the
 * server refuses, in whatever words. A lost connection stays an error.
 */
export async function unlessRefused<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof Error && cause.name === "ReplyError" && !PASSING.test(cause.message))
      return undefined;
    throw error;
  }
}
