import { setTimeout as sleep } from "node:timers/promises";
import type { StoreReading } from "../../contract/store.js";
import { askDirectly } from "../../kit/direct-http.js";
import type { NodePlace } from "../../kit/env.js";
import { BenchError, EXIT, environmentError, messageOf, usageError } from "../../kit/errors.js";
import type { StoreEngine } from "../target-types.js";

/** A store's refusal that waiting does not change, e.g. of a password. */
export class LastingRefusal extends BenchError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.environment, options);
  }
}

const problemIn = (error: unknown): string => {
  if (error instanceof LastingRefusal) throw error;
  return messageOf(error);
};

/**
 * Repeats a check until it finds no problem; an error is one.
 * @throws environmentError with the last problem; LastingRefusal at once
 */
export async function waitUntil(
  name: string,
  deadlineMs: number,
  findProblem: () => Promise<string | undefined>,
): Promise<void> {
  for (;;) {
    const problem = await findProblem().catch(problemIn);
    if (problem === undefined) return;
    if (performance.now() > deadlineMs)
      throw environmentError(`the ${name} took too long to be ready: ${problem}`);
    await sleep(25);
  }
}

const REQUEST_TIMEOUT_MS = 10_000;

export interface DecidingNode extends NodePlace {
  name: string;
  ports: { http: number; grpc: number };
}

/**
 * A server with a limiter of its own, which tells its counters over HTTP and has no command that
 * changes it.
 */
interface DecidingServer
  extends Pick<
    StoreEngine,
    "id" | "defaultPort" | "evidence" | "nodeArguments" | "nodeEnvironment"
  > {
  name: string;
  /** Asks nothing that the server counts. @throws Error where it does not decide yet */
  requireReady(node: DecidingNode): Promise<void>;
  /**
   * Reads the counters since the start of the store. They cannot be reset, so a clean start has
   * none.
   * @param metrics of `GET /metrics`
   */
  readingOf(name: string, metrics: string): StoreReading;
}

/** @throws environmentError naming the node, also when no answer comes in time */
export async function get({ host, name, ports }: DecidingNode, path: string): Promise<string> {
  try {
    const url = `http://${host}:${ports.http}${path}`;
    const { status, text } = await askDirectly(url, { timeout_ms: REQUEST_TIMEOUT_MS });
    if (status !== 200) throw new Error(`GET ${path} was answered with ${status}`);
    return text;
  } catch (error) {
    throw environmentError(`${name} does not answer: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * A function that reads a metric by its name with labels. The value may have the form
 * `1.5e+06`.
 * @throws environmentError without the metric
 */
export function metricsIn(name: string, metrics: string): (metric: string) => number {
  const lines = metrics.split("\n");
  return (metric) => {
    const text = lines.find((line) => line.startsWith(`${metric} `))?.slice(metric.length);
    const number = Number(text);
    if (text !== undefined && Number.isFinite(number)) return number;
    throw environmentError(`${name}: /metrics has no number ${metric}`);
  };
}

export function decidingEngine({
  name,
  requireReady,
  readingOf,
  ...engine
}: DecidingServer): StoreEngine {
  /** @throws usageError for a node that the harness has not started */
  const nodeOf = ({ host, port, ports = {} }: NodePlace): DecidingNode => {
    const { http, grpc } = ports;
    if (http !== undefined && grpc !== undefined)
      return { host, port, name: `${host}:${port}`, ports: { http, grpc } };
    throw usageError(
      `${name} is measured on a process that the harness starts: its counters are at a port of their own, which STORE_URL cannot name`,
    );
  };
  return {
    ...engine,
    faults: {
      failover: `${name} has no replicas`,
      "flush-scripts": `${name} has no scripts`,
      "flush-keys": `${name} has no command that empties it`,
      "fill-memory": `the memory of ${name} has no limit that can be set`,
    },
    async connect(places) {
      const nodes = places.map(nodeOf);
      return {
        ready: (_topology, deadlineMs) =>
          waitUntil("store", deadlineMs, async () => {
            for (const node of nodes) await requireReady(node);
            return undefined;
          }),
        async form() {
          throw usageError(`${name} runs standalone only: there is no cluster to form`);
        },
        // Each run has a process of its own, and there is no command that empties one.
        async reset() {},
        read: () =>
          Promise.all(nodes.map(async (node) => readingOf(node.name, await get(node, "/metrics")))),
        // It does not report them: the arguments of its program are part of the target.
        settings: async () => ({}),
        async discover() {
          throw usageError(
            `${name} cannot be detected: it is measured on a process that the harness starts`,
          );
        },
        close() {},
      };
    },
  };
}
