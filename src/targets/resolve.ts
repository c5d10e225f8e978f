import { usageError } from "../contract/errors.js";
import { type AskedPart, parseTargetText, partText, type Target } from "../contract/target.js";
import { clients } from "./clients/index.js";
import { limiters } from "./limiters/index.js";
import { nearest } from "./nearest.js";
import { options } from "./options/index.js";
import { stores } from "./stores/index.js";
import { topologies } from "./topologies/index.js";
import type {
  ClientDescription,
  LimiterDescription,
  OptionDescription,
  StoreDescription,
  TopologyDescription,
} from "./types.js";

/** Whether there is such a store here: true, or why not (false: its program was not found). */
export type Availability = (store: string) => boolean | string;

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
export const findOption = (id: string): OptionDescription => find("option", options, id);
export const findLimiter = (id: string): LimiterDescription => find("limiter", limiters, id);

/** The client under all of these options in a topology, or the reason why it cannot have one of them. */
function withOptions(
  client: ClientDescription,
  topology: string,
  ids: readonly string[],
): ClientDescription | { skip: string } {
  let varied = client;
  // In the order of the list: one that replaces `open` comes before those that add to it.
  for (const option of options.filter(({ id }) => ids.includes(id))) {
    const result = option.apply(varied, topology);
    if ("skip" in result) return result;
    varied = result;
  }
  return varied;
}

/**
 * The client of a resolved target, as the target's options make it.
 * @throws usageError for a target that names what does not exist, or an option that its client cannot have
 */
export function describeClient(
  target: Readonly<Pick<Target, "client" | "topology" | "options">>,
): ClientDescription {
  target.options.forEach(findOption);
  const client = withOptions(findClient(target.client), target.topology, target.options);
  if ("skip" in client) throw usageError(client.skip);
  return client;
}

/** Why the client cannot use that store, and the option that would let it. */
function storeSkip(client: ClientDescription, store: string, topology: string): string {
  const mends = options.filter(({ id }) => {
    const varied = withOptions(client, topology, [id]);
    return !("skip" in varied) && varied.stores.includes(store);
  });
  const why = `${client.id} cannot use ${store}: its limiter's script runs on ${client.stores.join(" or ")} only`;
  return mends.length > 0 ? `${why}; ${mends.map(({ id }) => `+${id}`).join(" or ")} can` : why;
}

export const isLimiter = (id: string): boolean => limiters.some((limiter) => limiter.id === id);

/**
 * The limiter that a target names by an option of its id, or why its client cannot have it.
 * @throws usageError for two of them, or a version of what is no limiter
 */
function limiterOf(
  text: string,
  client: ClientDescription,
  asked: readonly AskedPart[],
): AskedPart | { skip: string } | undefined {
  const [named, second] = asked.filter(({ id }) => isLimiter(id));
  if (named && second) throw usageError(`${text} names two limiters: those are two targets`);
  const wrong = asked.find(({ id, version }) => version && !isLimiter(id));
  if (wrong) throw usageError(`${text}: ${findOption(wrong.id).id} has no versions, it is no limiter`);
  if (named?.version && !findLimiter(named.id).package) {
    return { skip: `${named.id} has no versions: no package belongs to it` };
  }
  if (!named || named.id === client.limiter || options.some(({ id }) => id === named.id)) return named;
  return { skip: `${client.id} cannot have the limiter ${named.id}: its own is ${client.limiter}` };
}

/**
 * Fills in what the text leaves open. A default store that is not available gives way to one that is, with a
 * note; a store that was asked for by name does not.
 * @param available whether the target could have that store
 * @throws usageError for a text that is not a target, or names what does not exist
 */
export function resolveTarget(text: string, available: Availability = () => true): Resolution {
  const asked = parseTargetText(text);
  const plain = findClient(asked.client);
  const topology = findTopology(asked.topology ?? plain.topologies[0]).id;
  if (asked.store) findStore(asked.store);
  const limiter = limiterOf(text, plain, asked.options);
  if (limiter && "skip" in limiter) return limiter;
  // The client's own limiter is no option; naming it gives it a version at most.
  const others = asked.options.filter(({ id }) => id !== plain.limiter).map(({ id }) => id);
  others.forEach(findOption);
  const client = withOptions(plain, topology, others);
  if ("skip" in client) return client;
  if (asked.version && !plain.package) {
    return { skip: `${plain.id} has no versions: no package of its own belongs to it` };
  }
  if (asked.store && !client.stores.includes(asked.store)) {
    return { skip: storeSkip(client, asked.store, topology) };
  }
  if (!client.topologies.includes(topology)) {
    return { skip: `${client.id} knows no ${topology}: it is ${client.topologies.join(" or ")} only` };
  }
  const missing = (id: string): string | undefined => {
    const { program } = findStore(id);
    const here = program === undefined || available(id);
    if (here === true) return undefined;
    return here || `no ${program} was found on this machine`;
  };
  const store = asked.store ?? client.stores.find((id) => !missing(id)) ?? client.stores[0];
  const without = missing(store);
  if (without) return { skip: without };
  const suffix = asked.options
    .filter(({ id, version }) => version || id !== plain.limiter)
    .map(({ id, version }) => `+${partText(id, version)}`)
    .join("");
  const name = partText(client.id, asked.version);
  const label = [
    name,
    store === client.stores[0] ? "" : `@${store}`,
    topology === client.topologies[0] ? "" : `:${topology}`,
    suffix,
  ].join("");
  const target: Target = {
    text: client.control ? `${name}${suffix}` : `${name}@${store}:${topology}${suffix}`,
    label,
    client: client.id,
    ...(asked.version ? { client_version: asked.version } : {}),
    store,
    topology,
    limiter: client.limiter,
    ...(limiter?.version ? { limiter_version: limiter.version } : {}),
    options: others,
  };
  const gaveWay = !asked.store && store !== client.stores[0];
  return gaveWay
    ? {
        target,
        note: `${client.id} runs on ${store} here: ${missing(client.stores[0])}`,
      }
    : { target };
}
