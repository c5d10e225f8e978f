import { connect as connectSocket } from "node:net";
import type { Node } from "../../contract/env.js";
import { environmentError, messageOf, usageError } from "../../contract/errors.js";
import type { StoreReading } from "../../contract/store.js";
import type { StoreEngine, StoreSession } from "../types.js";
import { waitUntil } from "./wait-until.js";

const REQUEST_TIMEOUT_MS = 10_000;

interface ThrottleCrabNode extends Node {
  name: string;
  ports: { http: number; grpc: number };
}

/** @throws usageError for a node that the harness has not started */
function nodeOf({ host, port, ports = {} }: Node): ThrottleCrabNode {
  const { http, grpc } = ports;
  if (http !== undefined && grpc !== undefined)
    return { host, port, name: `${host}:${port}`, ports: { http, grpc } };
  throw usageError(
    "ThrottleCrab is measured on a process that the harness starts: its counters are at a port of their own, which STORE_URL cannot name",
  );
}

/** @throws environmentError naming the node, also when no answer comes in time */
async function get({ host, name, ports }: ThrottleCrabNode, path: string): Promise<string> {
  try {
    const response = await fetch(`http://${host}:${ports.http}${path}`, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`GET ${path} was answered with ${response.status}`);
    return await response.text();
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    throw environmentError(`${name} does not answer: ${messageOf(cause ?? error)}`, { cause: error });
  }
}

/** Opens a connection and closes it: any command over RESP, a PING too, would count as an admission. */
const requireListening = ({ host, name }: ThrottleCrabNode, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connectSocket({ host, port, timeout: REQUEST_TIMEOUT_MS });
    const end = (problem?: string) => {
      socket.destroy();
      if (problem === undefined) resolve();
      else reject(environmentError(`${name} does not listen on port ${port}: ${problem}`));
    };
    socket.once("connect", () => end());
    socket.once("timeout", () => end("no answer"));
    socket.once("error", (error) => end(messageOf(error)));
  });

/** All three ports. HTTP is asked first, because a GET is not counted. */
async function requireReady(node: ThrottleCrabNode): Promise<void> {
  await get(node, "/health");
  await requireListening(node, node.port);
  await requireListening(node, node.ports.grpc);
}

/**
 * The counters of one process since its start. They cannot be reset, so a clean start is that they are 0.
 * @throws environmentError where one is missing
 */
export function readingOf(name: string, metrics: string): StoreReading {
  const number = (metric: string): number => {
    const found = new RegExp(`^throttlecrab_${metric} (\\d+)`, "m").exec(metrics)?.[1];
    if (found !== undefined) return Number(found);
    throw environmentError(`${name}: /metrics has no number throttlecrab_${metric}`);
  };
  return {
    // It does not tell its version.
    version: "",
    uptime_s: number("uptime_seconds"),
    decisions: number("requests_allowed") + number("requests_denied"),
  };
}

async function connect(places: readonly Node[]): Promise<StoreSession> {
  const nodes = places.map(nodeOf);
  return {
    ready: (_topology, deadlineMs) =>
      waitUntil("store", deadlineMs, async () => {
        for (const node of nodes) await requireReady(node);
        return undefined;
      }),
    async form() {
      throw usageError("ThrottleCrab runs standalone only: there is no cluster to form");
    },
    // Each run has a process of its own, and there is no command that empties one.
    async reset() {},
    read: () => Promise.all(nodes.map(async (node) => readingOf(node.name, await get(node, "/metrics")))),
    // It does not report them: the arguments of its program are part of the target.
    settings: async () => ({}),
    async discover() {
      throw usageError(
        "ThrottleCrab cannot be detected: it is measured on a process that the harness starts",
      );
    },
    close() {},
  };
}

/** ThrottleCrab, which decides itself. It listens for RESP on its main port, and for HTTP and gRPC on two others. */
export const throttlecrab: StoreEngine = {
  id: "throttlecrab",
  defaultPort: 6379,
  evidence: ["decisions"],
  faults: {
    failover: "ThrottleCrab has no replicas",
    "flush-scripts": "ThrottleCrab has no scripts",
    "flush-keys": "ThrottleCrab has no command that empties it",
    "fill-memory": "the memory of ThrottleCrab has no limit that can be set",
  },
  nodeArguments: (store, _topology, { bind, port, ports }) => [
    ...["--redis", "--redis-host", bind, "--redis-port", String(port)],
    ...["--http", "--http-host", bind, "--http-port", String(ports.http)],
    ...["--grpc", "--grpc-host", bind, "--grpc-port", String(ports.grpc)],
    ...["--log-level", "warn"],
    ...(store.arguments ?? []),
  ],
  connect,
};
