import { usageError } from "../contract/errors.js";
import { parseTargetText, type Target } from "../contract/target.js";
import { clients } from "./clients/index.js";
import { nearest } from "./nearest.js";
import { stores } from "./stores/index.js";
import { topologies } from "./topologies/index.js";
import type { ClientDescription, StoreDescription, TopologyDescription } from "./types.js";

/** A target with every default filled in, or the reason why it cannot be measured here. */
export type Resolution = { target: Target; note?: string } | { skip: string };

function find<Thing extends { id: string }>(what: string, list: readonly Thing[], id: string): Thing {
  const found = list.find((thing) => thing.id === id);
  if (found) return found;
  throw usageError(
    `there is no ${what} ${JSON.stringify(id)}${nearest(
      id,
      list.map((thing) => thing.id),
    )}`,
  );
}

export const findClient = (id: string): ClientDescription => find("client", clients, id);
export const findStore = (id: string): StoreDescription => find("store", stores, id);
export const findTopology = (id: string): TopologyDescription => find("topology", topologies, id);

/**
 * Fills in what the text leaves open. A default store that is not available gives way to one that is, with a
 * note; a store that was asked for by name does not.
 * @param available whether this machine can start that store
 * @throws usageError for a text that is not a target, or names what does not exist
 */
export function resolveTarget(text: string, available: (store: string) => boolean = () => true): Resolution {
  const asked = parseTargetText(text);
  const client = findClient(asked.client);
  const topology = findTopology(asked.topology ?? client.topologies[0]).id;
  if (asked.store) findStore(asked.store);
  if (asked.version)
    throw usageError(`${text}: measuring a given version (~${asked.version}) is not supported yet`);
  const option = asked.options[0];
  if (option) throw usageError(`${text}: there is no option ${JSON.stringify(option)} for ${client.id}`);
  if (asked.store && !client.stores.includes(asked.store)) {
    return {
      skip: `${client.id} cannot use ${asked.store}: its limiter's script runs on ${client.stores.join(" or ")} only`,
    };
  }
  if (!client.topologies.includes(topology)) {
    return { skip: `${client.id} knows no ${topology}: it is ${client.topologies.join(" or ")} only` };
  }
  const store = asked.store ?? client.stores.find(available) ?? client.stores[0];
  const program = findStore(store).program;
  if (program && !available(store)) return { skip: `no ${program} was found on this machine` };
  const label = [
    client.id,
    store === client.stores[0] ? "" : `@${store}`,
    topology === client.topologies[0] ? "" : `:${topology}`,
  ].join("");
  const target: Target = {
    text: client.control ? client.id : `${client.id}@${store}:${topology}`,
    label,
    client: client.id,
    store,
    topology,
    limiter: client.limiter,
    options: [],
  };
  const gaveWay = !asked.store && store !== client.stores[0];
  return gaveWay
    ? {
        target,
        note: `${client.id} runs on ${store} here: no ${findStore(client.stores[0]).program} was found`,
      }
    : { target };
}
