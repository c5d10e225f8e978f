import { formatNodes } from "../../contract/env.js";
import { environmentError, messageOf } from "../../contract/errors.js";
import { describeClient } from "../../targets/resolve.js";
import type { OpenClient } from "../../targets/types.js";
import type { ServerConfig } from "../config/index.js";

/** Names the store in an error: which one, where, through which client. */
function storeError({ target, place }: ServerConfig, error: unknown): Error {
  const where = `${target.store} ${target.topology} at ${formatNodes(place.nodes)}`;
  return environmentError(`${target.client} cannot use the ${where}: ${messageOf(error)}`, { cause: error });
}

/**
 * Connects the target's client and makes sure that the store answers and is the one that was asked for.
 * @throws environmentError naming client, store and address
 */
export async function openClient(config: ServerConfig): Promise<OpenClient> {
  let client: OpenClient | undefined;
  try {
    client = await describeClient(config.target).open(config.place);
    await client.storeVersion();
    return client;
  } catch (error) {
    await client?.close();
    throw storeError(config, error);
  }
}
