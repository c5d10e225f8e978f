import { Redis } from "ioredis";
import type { Node } from "../contract/env.js";
import { environmentError, messageOf } from "../contract/errors.js";
import type { StoreAccess } from "../contract/store-url.js";

/** One store node, spoken to directly, whatever topology it is part of. */
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

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Asks again until the condition holds.
 * @param lacking what is still missing, or undefined when all is well; an error counts as missing
 * @throws environmentError with what was missing last
 */
export async function until(
  what: string,
  deadlineMs: number,
  lacking: () => Promise<string | undefined>,
): Promise<void> {
  for (;;) {
    const missing = await lacking().catch(messageOf);
    if (missing === undefined) return;
    if (Date.now() > deadlineMs) throw environmentError(`the ${what} took too long to be ready: ${missing}`);
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
      // A store that hangs must not make the probe hang.
      commandTimeout: COMMAND_TIMEOUT_MS,
      retryStrategy: () => 50,
    });
    // A node that is not up yet is what `until` waits for; the last refusal is news only when it never comes up.
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
