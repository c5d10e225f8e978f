import { appName, isApp } from "../contract/app.js";
import type { Limits } from "../contract/configuration.js";
import {
  nodeProgram,
  parseTargetText,
  partText,
  type Target,
  type TargetText,
  type VersionedId,
} from "../contract/target.js";
import { definedOnly } from "../kit/defined-only.js";
import { usageError } from "../kit/errors.js";
import { findClient, findLimiter, findOption, findStore } from "./find-description.js";
import { DEFAULT_FRAMEWORK } from "./frameworks.js";
import { limiters } from "./limiters/index.js";
import { options } from "./options.js";
import { propertiesOf } from "./target-properties.js";
import type { ClientDescription, LimiterDescription } from "./target-types.js";
import { findTopology } from "./topologies.js";
import { describeClient, onStore, withOptions } from "./varied-client.js";

export {
  findClient,
  findFramework,
  findLimiter,
  findStore,
  isClientId,
} from "./find-description.js";
export { findTopology } from "./topologies.js";
export { describeClient } from "./varied-client.js";

/**
 * Whether a store, service or module is available here. The answer is true, or the reason why
 * not, or false where it was not found.
 */
export type Availability = (id: string) => boolean | string;

/** A target with all defaults filled in, or the reason why it cannot be measured here. */
export type Resolution = { target: Target; note?: string } | { skip: string };

/**
 * Resolves a target. An available store replaces a default one that is not available, with a note,
 * but never one that the text names.
 * @throws usageError for a text that is not a target, or that has an unknown name
 */
export function resolveTarget(text: string, available: Availability = () => true): Resolution {
  const requested = parseTargetText(text);
  const described = describeRequest(text, requested);
  if ("skip" in described) return described;

  const skip = unsupportedPart(requested, described);
  if (skip !== undefined) return { skip };

  return placed(requested, described, available);
}

/** A target's text with the descriptions that it names. */
interface DescribedRequest {
  /** The client without the store's limiter and without options. */
  plain: ClientDescription;
  client: ClientDescription;
  topology: string;
  limiter: VersionedId | undefined;
  /** Ids of the options, without one that only names the client's own limiter. */
  optionIds: string[];
  /** The limiter that comes with the requested store. */
  storeLimiter: string | undefined;
}

function describeRequest(text: string, requested: TargetText): DescribedRequest | { skip: string } {
  const plain = findClient(requested.client);
  const topology = findTopology(requested.topology ?? plain.topologies[0]).id;
  const isProgram =
    requested.store !== undefined && findStore(requested.store).program !== undefined;
  if (requested.storeVersion && !isProgram)
    return { skip: `${requested.store} has no versions: it is no program` };

  const limiter = limiterOf(text, plain, requested.options);
  if (limiter && "skip" in limiter) return limiter;

  // The client's own limiter is not an option; naming it can only give it a version.
  const optionIds = requested.options.map(({ id }) => id).filter((id) => id !== plain.limiter);
  optionIds.forEach(findOption);

  const base = onStore(plain, requested.store, topology);
  if ("skip" in base) return base;
  const client = withOptions(base, topology, optionIds);
  if ("skip" in client) return client;

  const storeLimiter = requested.store ? findStore(requested.store).limiter : undefined;
  return { plain, client, topology, limiter, optionIds, storeLimiter };
}

/** Why what the text names does not go together. It is undefined where it does. */
function unsupportedPart(
  requested: TargetText,
  { plain, client, topology, limiter, storeLimiter }: DescribedRequest,
): string | undefined {
  const { store } = requested;
  if (storeLimiter && limiter && store && !client.stores.includes(store))
    return `${store} decides itself: +${limiter.id} is another limiter`;

  if (requested.version && !plain.package)
    return `${plain.id} has no versions: it is not an npm package`;

  if (store && !canUse(client, store)) return storeSkip(client, store, topology);

  if (usableStores(requested, client, topology).length === 0) {
    const { id, topologies } = findStore(store ?? client.stores[0]);
    return `${id} runs ${topologies?.join(" or ")} only`;
  }

  if (!client.topologies.includes(topology))
    return `${client.id} does not support ${topology}: it is ${client.topologies.join(" or ")} only`;
  return undefined;
}

const usableStores = (
  { store }: TargetText,
  client: ClientDescription,
  topology: string,
): readonly string[] => {
  const candidates = store ? [store] : client.stores;
  return candidates.filter((id) => runsAs(id, topology));
};

/** The target on the first store that is available, or why it cannot be measured here. */
function placed(
  requested: TargetText,
  described: DescribedRequest,
  available: Availability,
): Resolution {
  const { client, topology } = described;
  const missing = (id: string): string | undefined => {
    const { program } = findStore(id);
    return program && missingReason(partText(id, requested.storeVersion), program, available);
  };
  const candidates = usableStores(requested, client, topology);
  const store = candidates.find((id) => !missing(id)) ?? candidates[0] ?? client.stores[0];
  const skip = missing(store) ?? missingPart(client, available);
  if (skip) return { skip };

  const named = namedTarget(requested, described, store);
  const target: Target = { ...named, ...propertiesOf(client, named) };
  if (requested.store || store === client.stores[0]) return { target };
  return { target, note: `${client.id} runs on ${store} here: ${missing(client.stores[0])}` };
}

/** The names of a target, in full and without what is the default. */
function namedTarget(
  requested: TargetText,
  { plain, client, topology, limiter, optionIds, storeLimiter }: DescribedRequest,
  store: string,
) {
  const clientText = partText(client.id, requested.version);
  const storeText = partText(store, requested.storeVersion);
  const suffix = requested.options
    .filter(({ id, version }) => version || id !== plain.limiter)
    .map(({ id, version }) => `+${partText(id, version)}`)
    .join("");

  const [defaultStore] = (storeLimiter ? plain : client).stores;
  const isDefaultStore = store === defaultStore && !requested.storeVersion;
  const isDefaultTopology = topology === client.topologies[0];
  const storeLabel = isDefaultStore ? "" : `@${storeText}`;
  const topologyLabel = isDefaultTopology ? "" : `:${topology}`;

  return definedOnly({
    text: client.control
      ? `${clientText}${suffix}`
      : `${clientText}@${storeText}:${topology}${suffix}`,
    label: isApp({ client: client.id })
      ? `${appName(client.id)}${suffix}`
      : `${clientText}${storeLabel}${topologyLabel}${suffix}`,
    client: client.id,
    client_version: requested.version,
    store,
    store_version: requested.storeVersion,
    topology,
    limiter: client.limiter,
    limiter_version: limiter?.version,
    options: optionIds,
  });
}

function canUse(client: ClientDescription, storeId: string): boolean {
  const { compatibleWith } = findStore(storeId);
  return client.stores.includes(storeId) || client.stores.some((id) => id === compatibleWith);
}

function storeSkip(client: ClientDescription, store: string, topology: string): string {
  const [defaultStore] = client.stores;
  if (findStore(defaultStore).decides)
    return `${client.id} cannot use ${store}: it calls ${defaultStore}`;
  const fixes = options.filter(({ id }) => {
    const varied = withOptions(client, topology, [id]);
    return !("skip" in varied) && !varied.module && canUse(varied, store);
  });
  const runs = client.service ? `${client.service} runs so` : "its limiter's script runs";
  const reason = `${client.id} cannot use ${store}: ${runs} on ${client.stores.join(" or ")} only`;
  if (fixes.length === 0) return reason;
  return `${reason}; ${fixes.map(({ id }) => `+${id}`).join(" or ")} can`;
}

const runsAs = (store: string, topology: string): boolean =>
  findStore(store).topologies?.includes(topology) ?? true;

const isLimiter = (id: string): boolean => limiters.some((limiter) => limiter.id === id);

/**
 * The limiter that a target's option names, or why its client does not support it.
 * @throws usageError
 */
function limiterOf(
  text: string,
  client: ClientDescription,
  requested: readonly VersionedId[],
): VersionedId | { skip: string } | undefined {
  const [named, second] = requested.filter(({ id }) => isLimiter(id));
  if (named && second) throw usageError(`${text} names two limiters: those are two targets`);
  const optionWithVersion = requested.find(({ id, version }) => version && !isLimiter(id));
  if (optionWithVersion)
    throw usageError(
      `${text}: ${findOption(optionWithVersion.id).id} has no versions: it is not a limiter`,
    );

  if (named?.version && !findLimiter(named.id).package)
    return { skip: `${named.id} has no versions: it is not an npm package` };
  if (!named || named.id === client.limiter || options.some(({ id }) => id === named.id))
    return named;

  return {
    skip: `${client.id} does not support the limiter ${named.id}: its own is ${client.limiter}`,
  };
}

/** Why the service, the module or the load program that a client needs is not available. */
function missingPart(
  { service, module, program, node }: ClientDescription,
  available: Availability,
): string | undefined {
  if (node && available(nodeProgram(node)) !== true)
    return `that Node is not here: name it with --program ${nodeProgram(node)}=PATH and --runtime local`;

  for (const id of [service, module]) {
    const reason = id && missingReason(id, id, available);
    if (reason) return reason;
  }

  const reason = program && missingReason(program, program, available);
  return reason && `${reason}: install it, or name it with --program ${program}=PATH`;
}

function missingReason(id: string, program: string, available: Availability): string | undefined {
  const availability = available(id);
  if (availability === true) return undefined;
  return availability || `no ${program} was found on this machine`;
}

function unsupportedReason(limiter: LimiterDescription, limits: Limits): string | undefined {
  if (limits.cost && !limiter.takesCost)
    return `${limiter.id} counts requests: a cost of ${limits.cost} points is not possible`;
  return limiter.unsupportedReason ? limiter.unsupportedReason(limits) : limiter.lacks?.(limits);
}

/** Why a resolved target cannot keep these limits. It is undefined when it can. */
export const unsupportedLimits = (
  target: Readonly<
    Pick<Target, "client" | "topology" | "options" | "limiter"> & Partial<Pick<Target, "store">>
  >,
  limits: Limits,
): string | undefined =>
  unsupportedReason(findLimiter(target.limiter), limits) ??
  describeClient(target).unsupportedReason?.(limits);

/**
 * Why a target cannot deny at the cost of an ordinary decision. It is undefined where it
 * can.
 */
export const cannotExhaust = ({ limiter }: Pick<Target, "limiter">): string | undefined =>
  findLimiter(limiter).cannotExhaust;

/** Why the hook of the target's limiter cannot be installed in the target's framework. */
export function otherFramework({
  limiter,
  framework = DEFAULT_FRAMEWORK,
}: Pick<Target, "limiter" | "framework">): string | undefined {
  const { framework: home = framework } = findLimiter(limiter);
  if (home === framework) return undefined;
  return `${limiter} is installed in ${home}, not in ${framework}: measure it with --framework ${home}`;
}
