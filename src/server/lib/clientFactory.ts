import { formatNodes } from "../../contract/env.js";
import { environmentError, messageOf } from "../../contract/errors.js";
import { partText } from "../../contract/target.js";
import { describeClient } from "../../targets/resolve.js";
import type { OpenClient } from "../../targets/types.js";
import type { ServerConfig } from "../config/index.js";
import { librariesFor, requireVersion } from "./libraries.js";

/** An error that names the client, the store and its address. */
function storeError({ target, place }: ServerConfig, error: unknown): Error {
  const where = `${target.store} ${target.topology} at ${formatNodes(place.nodes)}`;
  const client = partText(target.client, target.client_version);
  return environmentError(`${client} cannot use the ${where}: ${messageOf(error)}`, { cause: error });
}

/**
 * Connects the target's client and checks that the store answers and is the requested one.
 * @throws environmentError naming client, store and address
 */
export async function openClient(config: ServerConfig): Promise<OpenClient> {
  const description = describeClient(config.target);
  const requested = { package: description.package, version: config.target.client_version };
  const libraries = librariesFor(requested, config.versionsFolder);
  let client: OpenClient | undefined;
  try {
    client = await description.open(config.place, { libraries });
    requireVersion(requested, client.version);
    await client.storeVersion();
    return client;
  } catch (error) {
    await client?.close();
    throw storeError(config, error);
  }
}
