import type { Limits } from "../contract/configuration.js";
import {
  type Decider,
  formatTargetText,
  nodeProgram,
  parsePart,
  parseStoreText,
  parseTargetText,
  partText,
  type Target,
  type VersionedId,
} from "../contract/target.js";
import { usageError } from "../kit/errors.js";
import { clients } from "./clients/index.js";
import { findKnown, requireKnown } from "./did-you-mean.js";
import { type FrameworkDescription, frameworks, USUAL_FRAMEWORK } from "./frameworks.js";
import { limiters } from "./limiters/index.js";
import { findLoadProgram } from "./load-programs/load-programs.js";
import { COPY, isCopy, isEncrypted, nodeVersionOf, options, SAME_SCRIPT } from "./options.js";
import { findService } from "./services/index.js";
import { stores } from "./stores/index.js";
import type {
  ClientDescription,
  LimiterDescription,
  OptionDescription,
  StoreDescription,
  VariedClient,
} from "./target-types.js";
import { findTopology } from "./topologies.js";

/**
 * Whether a store, service or module is available here: true, or the reason why not (false: it was
 * not found).
 */
export type Availability = (id: string) => boolean | string;

type NamedTarget = Pick<Target, "store" | "label" | "options">;

/** A target with all defaults filled in, or the reason why it cannot be measured here. */
export type Resolution = { target: Target; note?: string } | { skip: string };

export const findClient = (id: string): ClientDescription => findKnown("client", clients, id);
export { findTopology };
export const findStore = (id: string): StoreDescription => findKnown("store", stores, id);
const findOption = (id: string): OptionDescription =>
  options.find(({ pattern }) => pattern?.test(id)) ?? findKnown("option", options, id);
export const findLimiter = (id: string): LimiterDescription => findKnown("limiter", limiters, id);

/** The client on a store, or why it cannot; a store that decides itself brings its limiter. */
function onStore(
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

function withOptions(
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

/** The client of a target, with its options applied. @throws usageError */
export function describeClient(
  target: Readonly<
    Pick<Target, "client" | "topology" | "options"> & Partial<Pick<Target, "store">>
  >,
): ClientDescription {
  target.options.forEach(findOption);
  const plain = onStore(findClient(target.client), target.store, target.topology);
  if ("skip" in plain) throw usageError(plain.skip);
  const client = withOptions(plain, target.topology, target.options);
  if ("skip" in client) throw usageError(client.skip);
  return client;
}

function canUse(client: ClientDescription, storeId: string): boolean {
  const { compatibleWith } = findStore(storeId);
  return client.stores.includes(storeId) || client.stores.some((id) => id === compatibleWith);
}

function storeSkip(client: ClientDescription, store: string, topology: string): string {
  const [own] = client.stores;
  if (findStore(own).decides) return `${client.id} cannot use ${store}: it calls ${own}`;
  const fixes = options.filter(({ id }) => {
    const varied = withOptions(client, topology, [id]);
    return !("skip" in varied) && !varied.module && canUse(varied, store);
  });
  const runs = client.service ? `${client.service} runs so` : "its limiter's script runs";
  const why = `${client.id} cannot use ${store}: ${runs} on ${client.stores.join(" or ")} only`;
  return fixes.length > 0 ? `${why}; ${fixes.map(({ id }) => `+${id}`).join(" or ")} can` : why;
}

function unsupportedReason(limiter: LimiterDescription, limits: Limits): string | undefined {
  if (limits.cost && !limiter.takesCost)
    return `${limiter.id} counts requests: a cost of ${limits.cost} points is not possible`;
  return limiter.unsupportedReason ? limiter.unsupportedReason(limits) : limiter.lacks?.(limits);
}

/** Why a resolved target cannot keep these limits; undefined when it can. */
export const unsupportedLimits = (
  target: Readonly<
    Pick<Target, "client" | "topology" | "options" | "limiter"> & Partial<Pick<Target, "store">>
  >,
  limits: Limits,
): string | undefined =>
  unsupportedReason(findLimiter(target.limiter), limits) ??
  describeClient(target).unsupportedReason?.(limits);

/** Why a target cannot deny at the cost of a usual decision; undefined where it can. */
export const cannotExhaust = ({ limiter }: Pick<Target, "limiter">): string | undefined =>
  findLimiter(limiter).cannotExhaust;

const runsAs = (store: string, topology: string): boolean =>
  findStore(store).topologies?.includes(topology) ?? true;

const isLimiter = (id: string): boolean => limiters.some((limiter) => limiter.id === id);

/**
 * The limiter that a target's option names, or why its client does not support it. @throws
 * usageError
 */
function limiterOf(
  text: string,
  client: ClientDescription,
  requested: readonly VersionedId[],
): VersionedId | { skip: string } | undefined {
  const [named, second] = requested.filter(({ id }) => isLimiter(id));
  if (named && second) throw usageError(`${text} names two limiters: those are two targets`);
  const wrong = requested.find(({ id, version }) => version && !isLimiter(id));
  if (wrong)
    throw usageError(`${text}: ${findOption(wrong.id).id} has no versions: it is not a limiter`);
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
    const why = id && missingReason(id, id, available);
    if (why) return why;
  }
  const why = program && missingReason(program, program, available);
  return why && `${why}: install it, or name it with --program ${program}=PATH`;
}

function missingReason(id: string, program: string, available: Availability): string | undefined {
  const here = available(id);
  return here === true ? undefined : here || `no ${program} was found on this machine`;
}

/** What plan and results say of a target, so that nobody reads it from the target's text again. */
function factsOf(client: ClientDescription, { store, label, options: ids }: NamedTarget) {
  const { algorithm } = findLimiter(client.limiter);
  return {
    decided_by: deciderOf(client, store),
    ...(algorithm ? { algorithm } : {}),
    ...(client.module ? { module: client.module } : {}),
    ...(client.service ? { service: client.service } : {}),
    ...(client.program ? { program: client.program } : {}),
    ...(client.node ? { node: client.node } : {}),
    ...(client.framework ? { framework: client.framework } : {}),
    ...(ids.includes(SAME_SCRIPT) ? { same_script: true as const } : {}),
    ...(client.settings ? { settings: client.settings } : {}),
    ...(isEncrypted({ options: ids }) ? { encrypted: true as const } : {}),
    ...(isCopy({ options: ids }) ? { copy_of: label.replace(`+${COPY}`, "") } : {}),
    ...(client.decidesLocally ? { decides_locally: true as const } : {}),
  };
}

function deciderOf({ limiter, service, module }: ClientDescription, storeId: string): Decider {
  const { decides, engine } = findStore(storeId);
  if (limiter === "none") return "nothing";
  if (service || decides) return "service";
  if (module) return "module";
  return engine === undefined ? "in-process" : "library";
}

/**
 * An available store replaces a default one that is not, with a note; never one that the text
 * names.
 * @throws usageError for a text that is not a target, or that has an unknown name
 */
export function resolveTarget(text: string, available: Availability = () => true): Resolution {
  const requested = parseTargetText(text);
  const plain = findClient(requested.client);
  const topology = findTopology(requested.topology ?? plain.topologies[0]).id;
  const isProgram =
    requested.store !== undefined && findStore(requested.store).program !== undefined;
  if (requested.storeVersion && !isProgram)
    return { skip: `${requested.store} has no versions: it is no program` };
  const limiter = limiterOf(text, plain, requested.options);
  if (limiter && "skip" in limiter) return limiter;
  // The client's own limiter is not an option; naming it can only give it a version.
  const others = requested.options.filter(({ id }) => id !== plain.limiter).map(({ id }) => id);
  others.forEach(findOption);
  const { limiter: own } = requested.store ? findStore(requested.store) : {};
  const base = onStore(plain, requested.store, topology);
  if ("skip" in base) return base;
  const client = withOptions(base, topology, others);
  if ("skip" in client) return client;
  if (own && limiter && requested.store && !client.stores.includes(requested.store))
    return { skip: `${requested.store} decides itself: +${limiter.id} is another limiter` };
  if (requested.version && !plain.package)
    return { skip: `${plain.id} has no versions: it is not an npm package` };
  if (requested.store && !canUse(client, requested.store))
    return { skip: storeSkip(client, requested.store, topology) };
  const stores = (requested.store ? [requested.store] : client.stores).filter((id) =>
    runsAs(id, topology),
  );
  if (stores.length === 0) {
    const store = findStore(requested.store ?? client.stores[0]);
    return { skip: `${store.id} runs ${store.topologies?.join(" or ")} only` };
  }
  if (!client.topologies.includes(topology)) {
    return {
      skip: `${client.id} does not support ${topology}: it is ${client.topologies.join(" or ")} only`,
    };
  }
  const missing = (id: string): string | undefined => {
    const { program } = findStore(id);
    return program && missingReason(partText(id, requested.storeVersion), program, available);
  };
  const store = stores.find((id) => !missing(id)) ?? stores[0] ?? client.stores[0];
  const without = missing(store) ?? missingPart(client, available);
  if (without) return { skip: without };
  const suffix = requested.options
    .filter(({ id, version }) => version || id !== plain.limiter)
    .map(({ id, version }) => `+${partText(id, version)}`)
    .join("");
  const name = partText(client.id, requested.version);
  const storeText = partText(store, requested.storeVersion);
  const label = [
    name,
    store === (own ? plain : client).stores[0] && !requested.storeVersion ? "" : `@${storeText}`,
    topology === client.topologies[0] ? "" : `:${topology}`,
    suffix,
  ].join("");
  const named = {
    text: client.control ? `${name}${suffix}` : `${name}@${storeText}:${topology}${suffix}`,
    label,
    client: client.id,
    ...(requested.version ? { client_version: requested.version } : {}),
    store,
    ...(requested.storeVersion ? { store_version: requested.storeVersion } : {}),
    topology,
    limiter: client.limiter,
    ...(limiter?.version ? { limiter_version: limiter.version } : {}),
    options: others,
  };
  const target: Target = { ...named, ...factsOf(client, named) };
  const wasReplaced = !requested.store && store !== client.stores[0];
  const note = `${client.id} runs on ${store} here: ${missing(client.stores[0])}`;
  return wasReplaced ? { target, note } : { target };
}

/** A store, service or load program that a runtime starts. */
export type StartedProgram = Pick<StoreDescription, "id" | "program" | "image"> &
  Pick<Partial<StoreDescription>, "withoutVersionFlag"> & {
    mayHideVersion?: true;
    version?: string;
  };

/** The stores, services and load programs that these targets can use. @throws usageError */
export function candidatePrograms(texts: readonly string[]): StartedProgram[] {
  const services = texts.flatMap((text) => findClient(parseTargetText(text).client).service ?? []);
  const programs = texts.flatMap((text) => candidateClient(text)?.program ?? []);
  const nodes = texts.flatMap(
    (text) => nodeVersionOf(parseTargetText(text).options.map(({ id }) => id)) ?? [],
  );
  return [
    ...candidateStores(texts),
    ...[...new Set(services)].map(findService),
    ...[...new Set(programs)].map(startedLoadProgram),
    ...[...new Set(nodes)].map((version) => ({
      id: nodeProgram(version),
      program: "node",
      version,
    })),
  ];
}

function startedLoadProgram(id: string): StartedProgram {
  const { program, imageOf, withoutVersionFlag } = findLoadProgram(id);
  const image = imageOf === undefined ? undefined : findStore(imageOf).image;
  const version = withoutVersionFlag ? { withoutVersionFlag } : { mayHideVersion: true as const };
  return { id, program, ...version, ...(image ? { image } : {}) };
}

function candidateClient(text: string): ClientDescription | undefined {
  const { client, store, topology: named, options: requested } = parseTargetText(text);
  const plain = findClient(client);
  const topology = named ?? plain.topologies[0];
  const base = onStore(plain, store, topology);
  if ("skip" in base) return undefined;
  const others = requested.filter(({ id }) => options.some((option) => option.id === id));
  const varied = withOptions(
    base,
    topology,
    others.map(({ id }) => id),
  );
  return "skip" in varied ? undefined : varied;
}

/** Ids of the modules that these targets use. @throws usageError */
export const requestedModules = (texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => candidateClient(text)?.module ?? [])),
];

function candidateStores(texts: readonly string[]): StartedProgram[] {
  const ids = texts.flatMap((text) => {
    const { store, storeVersion } = parseTargetText(text);
    return store ? [partText(store, storeVersion)] : (candidateClient(text)?.stores ?? []);
  });
  return [...new Set(ids)].map(startedStore).filter(({ program }) => program !== undefined);
}

/** @param text `valkey`, or `valkey~8.1` for the program of one version */
function startedStore(text: string): StartedProgram {
  const { id, version } = parseStoreText(text);
  return { ...findStore(id), id: text, ...(version ? { version } : {}) };
}

export const limiterNames = (): string[] =>
  limiters.flatMap(({ id, package: npmPackage, applyTo }) =>
    (npmPackage || applyTo) && !stores.some(({ limiter }) => limiter === id) ? [id] : [],
  );

/** Reads `name[~version]`. @throws usageError for an unknown limiter */
export function parseLimiterText(text: string): VersionedId {
  const requested = parsePart("limiter", text);
  requireKnown("limiter", requested.id, limiterNames());
  return requested;
}

/** The target in each version of Node; one that names a version is kept. @throws usageError */
export function withNodes(text: string, versions: readonly string[]): string[] {
  const target = parseTargetText(text);
  if (versions.length === 0 || nodeVersionOf(target.options.map(({ id }) => id))) return [text];
  return versions.map((version) =>
    formatTargetText({ ...target, options: [...target.options, { id: `node-${version}` }] }),
  );
}

/**
 * The target on each version of its stores; one that names a version is kept. @throws usageError
 */
export function withStoreVersions(text: string, versions: readonly VersionedId[]): string[] {
  const target = parseTargetText(text);
  if (target.storeVersion) return [text];
  const usable = versions
    .filter(({ id }) => target.store === undefined || target.store === id)
    .map(({ id, version }) =>
      formatTargetText({ ...target, store: id, ...(version ? { storeVersion: version } : {}) }),
    )
    .filter((each) => !("skip" in resolveTarget(each)));
  return usable.length > 0 ? usable : [text];
}

/** The target with each limiter; one that has or takes no other is kept. @throws usageError */
export function withLimiters(text: string, requested: readonly VersionedId[]): string[] {
  const target = parseTargetText(text);
  const isNamed = target.options.some(({ id }) => limiters.some((limiter) => limiter.id === id));
  const own = target.store ? findStore(target.store).limiter : undefined;
  const isFixed = !limiterNames().includes(own ?? findClient(target.client).limiter);
  if (requested.length === 0 || isNamed || isFixed) return [text];
  return requested.map((limiter) =>
    formatTargetText({ ...target, options: [...target.options, limiter] }),
  );
}

export const findFramework = (id: string): FrameworkDescription =>
  findKnown("framework", frameworks, id);

/** The target on each framework; one that names a framework is kept. @throws usageError */
export function withFrameworks(text: string, requested: readonly string[]): string[] {
  const ids = requested.map((id) => findFramework(id).id);
  const target = parseTargetText(text);
  if (
    ids.length === 0 ||
    target.options.some(({ id }) => frameworks.some((each) => each.id === id))
  )
    return [text];
  return ids.map((id) =>
    id === USUAL_FRAMEWORK
      ? text
      : formatTargetText({ ...target, options: [...target.options, { id }] }),
  );
}

/** Why the hook of the target's limiter cannot be installed in the target's framework. */
export function otherFramework({
  limiter,
  framework = USUAL_FRAMEWORK,
}: Pick<Target, "limiter" | "framework">): string | undefined {
  const { framework: own = framework } = findLimiter(limiter);
  return own === framework
    ? undefined
    : `${limiter} is installed in ${own}, not in ${framework}: measure it with --framework ${own}`;
}
