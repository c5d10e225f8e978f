import { canonicalJson } from "../../contract/configuration.js";
import { isProgramLayer } from "../../contract/layers.js";
import { type Plan, type PlannedRanking, plannedFrom } from "../../contract/plan.js";
import { MIN_PAIRS } from "../../contract/statistics.js";
import {
  formatTargetText,
  parseTargetText,
  type Target,
  type TargetText,
  usesStore,
} from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import { grouped } from "../../kit/grouped.js";
import { clients } from "../../targets/clients/index.js";
import { COPY, FRAMEWORK, isCopy, SAME_SCRIPT, separationsOf } from "../../targets/options.js";
import { type Availability, findClient, isClientId, resolveTarget } from "../../targets/resolve.js";

export type Planned = Plan["configurations"][number];

/** Configurations that the report ranks together, in the plan's order. */
export interface Ranking {
  members: readonly Planned[];
  /** The member with which the others are compared; absent where one is alone. */
  reference?: Planned;
  /** The client, where it is compared only with itself. */
  client?: string;
  /** The number of comparisons with the reference that correct each other (M17), without copies. */
  family: number;
}

/**
 * Names the condition under which a client is compared with itself on several versions of its store,
 * which no option says.
 */
const STORE_VERSION = "store version";

/** The rounds by turns from which on a copy is worth its time, because fewer show nothing (M17, M31). */
export const MIN_ROUNDS_FOR_A_COPY = MIN_PAIRS;

const isControlClient = (client: string): boolean =>
  clients.some(({ id, control }) => id === client && control);

/** A control measures the harness instead of a limiter, so it is not ranked. */
export const isControl = ({ configuration }: Planned): boolean =>
  isControlClient(configuration.target.client);

/**
 * The clients that can be added as a reference, at the pinned version, in the order of preference. A
 * target of the first one gets the next.
 */
const ADDED_REFERENCES = ["ioredis", "iovalkey", "node-redis"];

/**
 * The reference on the target's store, with the options that decide its ranking: campaigns are
 * compared through it (M22).
 * @returns undefined where no such client is ranked with the target
 */
export function addedReference(target: Target, available?: Availability): Target | undefined {
  if (isControlClient(target.client)) return undefined;

  const { store, store_version: storeVersion, topology, limiter, text } = target;
  const options = parseTargetText(text).options.filter(
    ({ id }) => id === limiter || separationsOf([id]).length > 0,
  );
  const key = canonicalJson(comparedProperties(target, false));

  for (const client of ADDED_REFERENCES) {
    const referenceText = formatTargetText(
      definedOnly({ client, store, storeVersion, topology, options }),
    );
    const resolution = resolveTarget(referenceText, available);
    if ("skip" in resolution || resolution.target.text === text) continue;

    const reference = resolution.target;
    if (canonicalJson(comparedProperties(reference, false)) === key) return reference;
  }
  return undefined;
}

/**
 * A key that the members of a ranking share. Controls, runs with faults, and rows that a load program
 * measures, are ranked with nobody.
 */
function rankingKey(planned: Planned, acrossFrameworks: boolean): string {
  const {
    target,
    caps: _caps,
    service_env: _settings,
    external_server: _isRunning,
    ...load
  } = planned.configuration;
  if (isControl(planned) || load.faults || target.program) return planned.hash;

  // At the store layer the stores themselves are compared.
  if (isProgramLayer(load.layer)) return canonicalJson({ ...load, topology: target.topology });
  return canonicalJson({ ...load, ...comparedProperties(target, acrossFrameworks) });
}

/** The properties of a target that all members of its ranking have. */
function comparedProperties(target: Target, acrossFrameworks: boolean) {
  const { store, topology, decided_by, limiter, algorithm } = target;
  const conditions = conditionsOf(target, acrossFrameworks);
  return { store, topology, decided_by, algorithm: algorithm ?? limiter, conditions };
}

/** The options of a target that keep it apart from rows without them. */
function conditionsOf({ options }: Target, acrossFrameworks: boolean): string[] {
  const separating = separationsOf(options).filter(({ separates }) => {
    const isIgnored = acrossFrameworks && separates.what === FRAMEWORK;
    return separates.compares === "others" && !isIgnored;
  });
  return separating.map(({ id }) => id);
}

/** The conditions in which a client can be compared with itself, by what they are about. */
function conditionsWithin({ store_version, options }: Target): ReadonlyMap<string, string> {
  const conditions = new Map<string, string>();
  if (store_version) conditions.set(STORE_VERSION, store_version);
  for (const { id, separates } of separationsOf(options)) {
    if (separates.compares === "itself") conditions.set(separates.what, id);
  }
  return conditions;
}

/** The names of the conditions in which targets differ, with the store's version first. */
function varying(members: readonly Planned[]): string[] {
  const conditions = members.map(({ configuration }) => conditionsWithin(configuration.target));
  const names = new Set(conditions.flatMap((ofMember) => [...ofMember.keys()]));
  return [...names].filter((name) => {
    const values = new Set(conditions.map((ofMember) => ofMember.get(name)));
    return values.size > 1;
  });
}

/**
 * The client with its version and options, without the conditions in which it can be compared with
 * itself.
 */
function clientIn({ configuration: { target } }: Planned): string {
  const { client, version, options } = parseTargetText(target.text);
  const ignoredOptions = new Set([COPY, SAME_SCRIPT, ...conditionsWithin(target).values()]);
  const remaining = options.filter(({ id }) => !ignoredOptions.has(id));
  return formatTargetText(definedOnly({ client, version, options: remaining }));
}

/**
 * The rankings of members on a store in several versions, or in several conditions such as TLS or a
 * version of Node. Each client is compared with itself in the other conditions, and with no other
 * client, so that only the condition differs.
 */
function byCondition(members: readonly Planned[]): readonly Pick<Ranking, "members" | "client">[] {
  const [first] = members;
  const isOfStores = first !== undefined && isProgramLayer(first.configuration.layer);
  if (isOfStores || varying(members).length === 0) return [{ members }];

  return grouped(members, clientIn).map((sameClient) => {
    const [member] = sameClient;
    return { members: sameClient, client: member ? clientIn(member) : "" };
  });
}

/** @param acrossFrameworks whether rows of several web frameworks are ranked together */
export function rankingsOf(
  configurations: readonly Planned[],
  referenceOf: (members: readonly Planned[]) => Planned | undefined,
  acrossFrameworks = false,
): Ranking[] {
  const comparable = grouped(configurations, (planned) => rankingKey(planned, acrossFrameworks));
  return comparable.flatMap(byCondition).map((ranking) => {
    const { members } = ranking;
    const reference = members.length > 1 ? referenceOf(members) : undefined;
    return definedOnly({ ...ranking, reference, family: originals(members).length - 1 });
  });
}

/** The rankings as a plan names them for all later steps. */
export const describeRankings = (
  rankings: readonly Ranking[],
  acrossFrameworks = false,
): PlannedRanking[] =>
  rankings.map((ranking, index) =>
    describeRanking(ranking, `ranking-${index + 1}`, acrossFrameworks),
  );

function describeRanking(
  { members, reference, client, family }: Ranking,
  id: string,
  acrossFrameworks: boolean,
): PlannedRanking {
  const [first] = members;
  const conditions = first ? conditionsOf(first.configuration.target, acrossFrameworks) : [];
  const varies = client === undefined ? [] : varying(members);
  const copy = reference && members.find((member) => isCopyOf(member, reference));
  return definedOnly({
    id,
    members: members.map(({ hash }) => hash),
    reference: reference?.hash,
    copy: copy?.hash,
    family,
    conditions: conditions.length > 0 ? conditions : undefined,
    client,
    varies: varies.length > 0 ? varies : undefined,
  });
}

/**
 * A note on the first target that is compared with nobody because another client is on another store,
 * and on how it would be compared. A client on two stores compares the stores.
 */
export function noteOnStores(
  rankings: readonly Ranking[],
  available?: Availability,
): string | undefined {
  const compared = rankings
    .map(({ members }) => originals(members))
    .filter(([first]) => first && !isControl(first));
  const firsts = compared.flatMap(([first]) => first?.configuration.target ?? []);

  for (const [single, ...others] of compared) {
    if (!single || others.length > 0 || isProgramLayer(single.configuration.layer)) continue;
    const { target } = single.configuration;
    for (const other of firsts) {
      if (!differOnlyInStore(target, other)) continue;
      const resolution = resolveTarget(textOnStoreOf(target, other), available);
      if ("skip" in resolution) continue;
      return `${target.label} on ${target.store} is not compared with ${other.label} on ${other.store}: give ${resolution.target.label} for that`;
    }
  }
  return undefined;
}

/** Whether two clients would be compared if they were on the same store. */
const differOnlyInStore = (target: Target, other: Target): boolean =>
  other.client !== target.client &&
  other.store !== target.store &&
  other.topology === target.topology &&
  usesStore(target) &&
  usesStore(other);

/** The text of a target on the store of another one. */
function textOnStoreOf(target: Target, { store, store_version }: Target): string {
  const { storeVersion: _, ...parts } = parseTargetText(target.text);
  return formatTargetText(definedOnly({ ...parts, store, storeVersion: store_version }));
}

/**
 * The rankings of a plan. Each plan of this version names them, and no campaign of a former version
 * is resumed.
 */
export function plannedRankings({ configurations, rankings = [] }: Plan): Ranking[] {
  const byHash = new Map(configurations.map((planned) => [planned.hash, planned]));
  return rankings.map(({ members, reference, client, family }) =>
    definedOnly({
      family,
      members: members.flatMap((hash) => byHash.get(hash) ?? []),
      reference: reference === undefined ? undefined : byHash.get(reference),
      client,
    }),
  );
}

/** The hashes of the references of a plan. */
export const referencesIn = (plan: Plan): string[] =>
  plannedRankings(plan).flatMap(({ reference }) => reference?.hash ?? []);

/** The members that are compared, without copies, or all where a user measures only copies. */
export function originals(members: readonly Planned[]): readonly Planned[] {
  const withoutCopies = members.filter(({ configuration }) => !isCopy(configuration.target));
  return withoutCopies.length > 0 ? withoutCopies : members;
}

function parseReference(text: string): TargetText {
  const named = parseTargetText(text);
  const { limiter } = findClient(named.client);
  return {
    ...named,
    options: named.options.filter(({ id, version }) => id !== limiter || version),
  };
}

/**
 * Whether a target is of that client and version, and has the store, topology and options that are
 * named.
 */
function hasAllOf(target: Target, named: TargetText): boolean {
  const { client, version, options } = parseTargetText(target.text);
  const hasOption = ({ id, version: optionVersion }: TargetText["options"][number]) =>
    options.some((option) => option.id === id && option.version === optionVersion);
  return (
    client === named.client &&
    version === named.version &&
    (named.store ?? target.store) === target.store &&
    (named.storeVersion ?? target.store_version) === target.store_version &&
    (named.topology ?? target.topology) === target.topology &&
    named.options.every(hasOption)
  );
}

/**
 * Whether `--reference` names a configuration: by its store at the store layer, else by its target.
 */
function isNamed({ configuration: { layer, target } }: Planned, text: string): boolean {
  if (isProgramLayer(layer)) return target.store === text;
  return isClientId(parseTargetText(text).client) && hasAllOf(target, parseReference(text));
}

/**
 * The named target (of several the one with the fewest options), else the first that was requested.
 * @throws usageError where the text names nothing that is ranked
 */
export function referenceChooser(
  text: string | undefined,
  configurations: readonly Planned[],
): (members: readonly Planned[]) => Planned | undefined {
  const ranked = originals(configurations.filter((planned) => !isControl(planned)));
  if (text !== undefined && !ranked.some((planned) => isNamed(planned, text))) {
    const labels = [...new Set(ranked.map(({ configuration }) => configuration.target.label))];
    const remedy =
      labels.length > 0 ? `give one of ${labels.join(", ")}` : "controls alone are not compared";
    throw usageError(
      `--reference ${JSON.stringify(text.slice(0, 60))} names nothing that is compared: ${remedy}`,
    );
  }

  const optionCount = ({ configuration }: Planned) => configuration.target.options.length;
  return (members) => {
    const candidates = originals(members);
    const named = candidates.filter((planned) => text !== undefined && isNamed(planned, text));
    const [plainest] = named.toSorted((a, b) => optionCount(a) - optionCount(b));
    return plainest ?? candidates[0];
  };
}

/** Whether a configuration is that of another one with the option of copies. */
const isCopyOf = (copy: Planned, original: Planned): boolean =>
  copy !== original && isCopy(copy.configuration.target) && copyOf(original).hash === copy.hash;

/** The same configuration once more, as a row of its own. */
function copyOf({ configuration }: Planned): Planned {
  const { options, ...named } = parseTargetText(configuration.target.text);
  const resolution = resolveTarget(
    formatTargetText({ ...named, options: [...options, { id: COPY }] }),
  );
  if ("skip" in resolution) throw new Error(resolution.skip);
  const copy = { ...configuration, target: resolution.target };
  return plannedFrom(copy);
}

/**
 * The configurations with a copy behind the reference of each ranking (M31), unless the copy would be
 * compared with nothing else.
 */
export function withCopies(
  configurations: readonly Planned[],
  rankings: readonly Ranking[],
): Planned[] {
  const hashes = new Set(configurations.map(({ hash }) => hash));
  const copied = rankings
    .filter(({ members }) => originals(members).length > 1)
    .flatMap(({ reference }) => reference ?? [])
    .filter(({ configuration }) => !isProgramLayer(configuration.layer));

  return configurations.flatMap((planned) => {
    if (!copied.includes(planned)) return [planned];
    const copy = copyOf(planned);
    return hashes.has(copy.hash) ? [planned] : [planned, copy];
  });
}
