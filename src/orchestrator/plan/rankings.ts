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
import { usageError } from "../../kit/errors.js";
import { clients } from "../../targets/clients/index.js";
import { COPY, FRAMEWORK, isCopy, SAME_SCRIPT, separationsOf } from "../../targets/options.js";
import { type Availability, findClient, resolveTarget } from "../../targets/resolve.js";

export type Planned = Plan["configurations"][number];

/** Configurations that the report ranks together, in the plan's order. */
export interface Ranking {
  members: readonly Planned[];
  /** The member with which the others are compared; absent where one is alone. */
  reference?: Planned;
  /** The client, where it is compared with itself alone. */
  client?: string;
}

/** In what a client is compared with itself on several versions of its store: no option says it. */
const STORE_VERSION = "store version";

/**
 * With fewer rounds by turns nothing can be shown: a copy would not be worth its time (M17, M31).
 */
export const MIN_ROUNDS_FOR_A_COPY = MIN_PAIRS;

/** A control measures the harness, and a run with faults what they do: neither is ranked. */
export const isControl = ({ configuration: { target } }: Planned): boolean =>
  clients.some(({ id, control }) => id === target.client && control);

/**
 * The clients that can be added as a reference, at the pinned version. To the first one the next on
 * its store is added.
 */
const ADDED_REFERENCES = ["ioredis", "iovalkey", "node-redis"];

/**
 * On the target's store, with the options that decide its ranking: campaigns are compared through
 * it (M22).
 * @returns undefined where no such client is ranked with it
 */
export function addedReference(target: Target, available?: Availability): Target | undefined {
  const { store, store_version, topology, limiter, text } = target;
  if (clients.some(({ id, control }) => id === target.client && control)) return undefined;
  const options = parseTargetText(text).options.filter(
    ({ id }) => id === limiter || separationsOf([id]).length > 0,
  );
  for (const client of ADDED_REFERENCES) {
    const on = { store, ...(store_version ? { storeVersion: store_version } : {}), topology };
    const found = resolveTarget(formatTargetText({ client, ...on, options }), available);
    if ("skip" in found || found.target.text === text) continue;
    if (canonicalJson(rankedBy(found.target, false)) === canonicalJson(rankedBy(target, false)))
      return found.target;
  }
  return undefined;
}

/**
 * What the members of a ranking share. What a load program measures stands beside its client, and
 * is ranked with nobody.
 */
function rankingKey(planned: Planned, acrossFrameworks: boolean): string {
  const { target, caps: _caps, service_env: _settings, ...load } = planned.configuration;
  if (isControl(planned) || planned.configuration.faults || target.program) return planned.hash;
  // There the stores themselves are compared.
  if (isProgramLayer(load.layer)) return canonicalJson({ ...load, topology: target.topology });
  return canonicalJson({ ...load, ...rankedBy(target, acrossFrameworks) });
}

function rankedBy(target: Target, acrossFrameworks: boolean) {
  const { store, topology, decided_by, limiter, algorithm } = target;
  const conditions = conditionsOf(target, acrossFrameworks);
  return { store, topology, decided_by, algorithm: algorithm ?? limiter, conditions };
}

/** The options of a target that keep it apart from rows without them. */
const conditionsOf = ({ options }: Target, acrossFrameworks: boolean): string[] =>
  separationsOf(options).flatMap(({ id, separates: { compares, what } }) =>
    compares === "others" && !(acrossFrameworks && what === FRAMEWORK) ? [id] : [],
  );

/** The conditions in which a client can be compared with itself, by what they are about. */
function conditionsWithin({ store_version, options }: Target): ReadonlyMap<string, string> {
  const own = separationsOf(options).filter(({ separates }) => separates.compares === "itself");
  return new Map([
    ...(store_version ? [[STORE_VERSION, store_version] as const] : []),
    ...own.map(({ id, separates }) => [separates.what, id] as const),
  ]);
}

/**
 * About what the targets differ in their conditions: the store's version first, then in the order
 * of the options.
 */
function varying(members: readonly Planned[]): string[] {
  const conditions = members.map(({ configuration }) => conditionsWithin(configuration.target));
  const names = [...new Set(conditions.flatMap((each) => [...each.keys()]))];
  return names.filter((name) => new Set(conditions.map((each) => each.get(name))).size > 1);
}

/**
 * The client with its version and options, without the conditions in which it can be compared with
 * itself.
 */
function clientIn({ configuration: { target } }: Planned): string {
  const { client, version, options } = parseTargetText(target.text);
  const within = new Set([COPY, SAME_SCRIPT, ...conditionsWithin(target).values()]);
  return formatTargetText({
    client,
    ...(version ? { version } : {}),
    options: options.filter(({ id }) => !within.has(id)),
  });
}

/**
 * On a store in several versions, or in several conditions such as TLS or a version of Node, each
 * client is compared with itself in the others, and with no other client: what differs is that
 * alone.
 */
function byCondition(members: readonly Planned[]): readonly Omit<Ranking, "reference">[] {
  const [first] = members;
  const isOfStores = first !== undefined && isProgramLayer(first.configuration.layer);
  if (isOfStores || varying(members).length === 0) return [{ members }];
  return grouped(members, clientIn).map((own) => ({
    members: own,
    client: own[0] ? clientIn(own[0]) : "",
  }));
}

/** Those of equal keys together, in their order. */
export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const found = new Map<string, Item[]>();
  for (const item of items) found.set(keyOf(item), [...(found.get(keyOf(item)) ?? []), item]);
  return [...found.values()];
}

/** @param acrossFrameworks whether rows of several web frameworks are ranked together */
export function rankingsOf(
  configurations: readonly Planned[],
  referenceOf: (members: readonly Planned[]) => Planned | undefined,
  acrossFrameworks = false,
): Ranking[] {
  return grouped(configurations, (planned) => rankingKey(planned, acrossFrameworks))
    .flatMap(byCondition)
    .map((ranking) => {
      const reference = ranking.members.length > 1 ? referenceOf(ranking.members) : undefined;
      return { ...ranking, ...(reference ? { reference } : {}) };
    });
}

/** Rankings as a plan names them, for all that comes after the plan. */
export const describeRankings = (
  rankings: readonly Ranking[],
  acrossFrameworks = false,
): PlannedRanking[] =>
  rankings.map(({ members, reference, client }, index) => {
    const [first] = members;
    const conditions = first ? conditionsOf(first.configuration.target, acrossFrameworks) : [];
    const varies = client === undefined ? [] : varying(members);
    const copy = reference && members.find((each) => isCopyOf(each, reference));
    return {
      id: `ranking-${index + 1}`,
      members: members.map(({ hash }) => hash),
      ...(reference ? { reference: reference.hash } : {}),
      ...(copy ? { copy: copy.hash } : {}),
      family: originals(members).length - 1,
      ...(conditions.length > 0 ? { conditions } : {}),
      ...(client === undefined ? {} : { client }),
      ...(varies.length > 0 ? { varies } : {}),
    };
  });

/**
 * Says that a target is compared with nobody because another client is on another store, and how it
 * would be: one line, of the first such target. A client on two stores compares the stores.
 */
export function noteOnStores(
  rankings: readonly Ranking[],
  available?: Availability,
): string | undefined {
  const compared = rankings
    .map(({ members }) => originals(members))
    .filter(([first]) => first && !isControl(first));
  const firsts = compared.flatMap(([first]) => first?.configuration.target ?? []);
  for (const [only, ...more] of compared) {
    if (!only || more.length > 0 || isProgramLayer(only.configuration.layer)) continue;
    const { target } = only.configuration;
    for (const other of firsts) {
      if (other.client === target.client || other.store === target.store) continue;
      if (other.topology !== target.topology || !usesStore(target) || !usesStore(other)) continue;
      const { storeVersion: _, ...own } = parseTargetText(target.text);
      const on = {
        store: other.store,
        ...(other.store_version ? { storeVersion: other.store_version } : {}),
      };
      const fair = resolveTarget(formatTargetText({ ...own, ...on }), available);
      if ("skip" in fair) continue;
      return `${target.label} on ${target.store} is not compared with ${other.label} on ${other.store}: give ${fair.target.label} for that`;
    }
  }
  return undefined;
}

/**
 * The rankings of a plan. Older plans, of campaigns that are resumed, name the references alone.
 */
export function plannedRankings({
  configurations,
  rankings,
  references = [],
  compare_frameworks,
}: Plan): Ranking[] {
  if (!rankings)
    return rankingsOf(
      configurations,
      (members) => members.find(({ hash }) => references.includes(hash)),
      compare_frameworks === true,
    );
  const byHash = new Map(configurations.map((planned) => [planned.hash, planned]));
  return rankings.map(({ members, reference, client }) => {
    const found = reference === undefined ? undefined : byHash.get(reference);
    return {
      members: members.flatMap((hash) => byHash.get(hash) ?? []),
      ...(found ? { reference: found } : {}),
      ...(client === undefined ? {} : { client }),
    };
  });
}

/** The hashes of the references of a plan. */
export const referencesIn = (plan: Plan): string[] =>
  plannedRankings(plan).flatMap(({ reference }) => reference?.hash ?? []);

/** The members that are compared, without copies; all where a user measures copies alone. */
export function originals(members: readonly Planned[]): readonly Planned[] {
  const found = members.filter(({ configuration: { target } }) => !isCopy(target));
  return found.length > 0 ? found : members;
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
function hasAllOf(target: Target, wanted: TargetText): boolean {
  const own = parseTargetText(target.text);
  return (
    own.client === wanted.client &&
    own.version === wanted.version &&
    (wanted.store ?? target.store) === target.store &&
    (wanted.storeVersion ?? target.store_version) === target.store_version &&
    (wanted.topology ?? target.topology) === target.topology &&
    wanted.options.every(({ id, version }) =>
      own.options.some((option) => option.id === id && option.version === version),
    )
  );
}

/**
 * Whether `--reference` names a configuration: by its store at the store layer, else by its target.
 */
function isNamed({ configuration: { layer, target } }: Planned, text: string): boolean {
  if (isProgramLayer(layer)) return target.store === text;
  return (
    clients.some(({ id }) => id === parseTargetText(text).client) &&
    hasAllOf(target, parseReference(text))
  );
}

/**
 * The named target (of several the one with the fewest options), else the first that was requested.
 * @throws usageError where the text names nothing that is ranked
 */
export function referenceChooser(
  text: string | undefined,
  configurations: readonly Planned[],
): (members: readonly Planned[]) => Planned | undefined {
  const ranked = originals(configurations.filter((each) => !isControl(each)));
  if (text !== undefined && !ranked.some((each) => isNamed(each, text))) {
    const labels = [...new Set(ranked.map(({ configuration }) => configuration.target.label))];
    const known =
      labels.length > 0 ? `give one of ${labels.join(", ")}` : "controls alone are not compared";
    throw usageError(
      `--reference ${JSON.stringify(text.slice(0, 60))} names nothing that is compared: ${known}`,
    );
  }
  const optionCount = ({ configuration }: Planned) => configuration.target.options.length;
  return (members) => {
    const candidates = originals(members);
    const named = candidates.filter((each) => text !== undefined && isNamed(each, text));
    return [...named].sort((a, b) => optionCount(a) - optionCount(b))[0] ?? candidates[0];
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
 * With a copy behind the reference of each ranking (M31), unless only copies would be beside it.
 */
export function withCopies(
  configurations: readonly Planned[],
  rankings: readonly Ranking[],
): Planned[] {
  const hashes = new Set(configurations.map(({ hash }) => hash));
  const copied = rankings.flatMap(({ members, reference }) =>
    reference && !isProgramLayer(reference.configuration.layer) && originals(members).length > 1
      ? [reference]
      : [],
  );
  return configurations.flatMap((planned) => {
    if (!copied.includes(planned)) return [planned];
    const copy = copyOf(planned);
    return hashes.has(copy.hash) ? [planned] : [planned, copy];
  });
}
