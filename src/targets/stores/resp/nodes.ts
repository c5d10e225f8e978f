import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Node } from "../contract/env.js";
import { environmentError, messageOf } from "../contract/errors.js";
import type { StoreAccess } from "../contract/store-url.js";

/** A direct connection to one store node, whatever the topology. */
export interface StoreNode {
  place: Node;
  name: string;
  call(...command: readonly [string, ...(string | number)[]]): Promise<unknown>;
  /** The fields of `INFO section`, by name. */
  info(section: string): Promise<Map<string, string>>;
}

/** `name:value` lines, as INFO and CLUSTER INFO give them. */
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

/**
 * Repeats a check until it finds no problem.
 * @param findProblem resolves with the problem, or with undefined when there is none; an error counts as a problem
 * @throws environmentError with the last problem
 */
export async function waitUntil(
  name: string,
  deadlineMs: number,
  findProblem: () => Promise<string | undefined>,
): Promise<void> {
  for (;;) {
    const problem = await findProblem().catch(messageOf);
    if (problem === undefined) return;
    if (Date.now() > deadlineMs) throw environmentError(`the ${name} took too long to be ready: ${problem}`);
    await sleep(25);
  }
}

const COMMAND_TIMEOUT_MS = 10_000;

/** Runs `work` with a connection to each node; connections are closed whatever happens. */
export async function withNodes<Value>(
  places: readonly Node[],
  access: StoreAccess,
  work: (nodes: readonly StoreNode[]) => Promise<Value>,
): Promise<Value> {
  const connections = places.map(({ host, port }) => {
    const connection = new Redis({
      host,
      port,
      ...access,
      protocol: 2,
      maxRetriesPerRequest: null,
      // The probe must not hang when the store hangs.
      commandTimeout: COMMAND_TIMEOUT_MS,
      retryStrategy: () => 50,
    });
    // `waitUntil` waits for a node that is starting; the last refusal is only reported when it never answers.
    let refusal = "";
    connection.on("error", (error: Error) => {
      refusal = `: ${messageOf(error)}`;
    });
    return { connection, refusal: () => refusal };
  });
  const nodes = places.map((place, index): StoreNode => {
    const own = connections[index];
    if (!own) throw new Error("a node without a connection");
    const { connection, refusal } = own;
    const call: StoreNode["call"] = async (...[name, ...parameters]) => {
      const node = `${place.host}:${place.port}`;
      if (connection.status !== "ready") throw environmentError(`${node} does not answer${refusal()}`);
      try {
        return await connection.call(name, ...parameters.map(String));
      } catch (error) {
        throw environmentError(`${node}: ${name}: ${messageOf(error)}`, { cause: error });
      }
    };
    return {
      place,
      name: `${place.host}:${place.port}`,
      call,
      info: async (section) => parseFields(String(await call("INFO", section))),
    };
  });
  try {
    return await work(nodes);
  } finally {
    for (const { connection } of connections) connection.disconnect();
  }
}
