import { Redis } from "ioredis";
import type { Node } from "../../../contract/env.js";
import { environmentError, messageOf } from "../../../contract/errors.js";
import type { StoreAccess } from "../../../contract/store-url.js";

/** A direct connection to one store node, whatever the topology. */
export interface StoreNode {
  place: Node;
  name: string;
  call(...command: readonly [string, ...(string | number)[]]): Promise<unknown>;
  /** The fields of `INFO section`, by name. */
  info(section: string): Promise<Map<string, string>>;
  close(): void;
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

const COMMAND_TIMEOUT_MS = 10_000;

/**
 * Connects to a node, which may still be starting: a call fails until it answers.
 * @param asksInfo whether INFO says when it is ready; a server without INFO would never be
 */
export function connectNode(place: Node, access: StoreAccess, { asksInfo = true } = {}): StoreNode {
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
  // `waitUntil` waits for a node that is starting; the last refusal is only reported when it never answers.
  let refusal = "";
  connection.on("error", (error: Error) => {
    refusal = `: ${messageOf(error)}`;
  });
  const call: StoreNode["call"] = async (...[command, ...parameters]) => {
    if (connection.status !== "ready") throw environmentError(`${name} does not answer${refusal}`);
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
 * The answer to a command that a server need not know or allow: undefined where it refuses, in whatever words. A lost
 * connection stays an error.
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
