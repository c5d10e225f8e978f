import type { Target } from "../contract/target.js";
import { usageError } from "../kit/errors.js";
import { findClient, findLimiter, findOption, findStore } from "./find-description.js";
import { options } from "./options.js";
import type { ClientDescription, VariedClient } from "./target-types.js";

/**
 * The client on a store, or why it cannot use the store. A store that decides itself brings
 * its limiter.
 */
export function onStore(
  client: ClientDescription,
  storeId: string | undefined,
  topology: string,
): VariedClient {
  const { limiter } = storeId === undefined ? client : findStore(storeId);
  if (limiter === undefined || limiter === client.limiter) return client;
  const { applyTo } = findLimiter(limiter);
  return (
    applyTo?.(client, topology) ?? { skip: `${client.id} does not support the limiter ${limiter}` }
  );
}

/** The client with these options, or why it does not support one. */
export function withOptions(
  client: ClientDescription,
  topology: string,
  ids: readonly string[],
): VariedClient {
  let varied = client;
  for (const option of options) {
    const named = ids.find((id) => id === option.id || option.pattern?.test(id));
    if (named === undefined) continue;
    const result = option.apply(varied, topology, named);
    if ("skip" in result) return result;
    varied = result;
  }
  return varied;
}

/**
 * The client of a target, with its options applied.
 * @throws usageError
 */
export function describeClient(
  target: Readonly<
    Pick<Target, "client" | "topology" | "options"> & Partial<Pick<Target, "store">>
  >,
): ClientDescription {
  target.options.forEach(findOption);
  const base = onStore(findClient(target.client), target.store, target.topology);
  if ("skip" in base) throw usageError(base.skip);
  const client = withOptions(base, target.topology, target.options);
  if ("skip" in client) throw usageError(client.skip);
  return client;
}
