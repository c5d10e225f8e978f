import {
  type Configuration,
  configurationFileName,
  type Extent,
  type KindCaps,
  type Limits,
  type ListedLimit,
  type Load,
  NO_WORKLOAD,
} from "../../contract/configuration.js";
import {
  byDimension,
  countIn,
  type DimensionCounts,
  type DimensionKey,
  dimensions,
  namedCounts,
  USUAL,
} from "../../contract/dimensions.js";
import { isClientLayer, isProgramLayer, type Layer } from "../../contract/layers.js";
import { PLAN_SCHEMA, PLAN_SCHEMA_VERSION, type Plan, plannedFrom } from "../../contract/plan.js";
import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import type { Discovery } from "../../contract/store.js";
import { idSchema, type Target, usesStore } from "../../contract/target.js";
import { MIN_CYCLES } from "../../contract/turns.js";
import { usageError } from "../../kit/errors.js";
import type { PartFaults } from "../../runtimes/runtime-types.js";
import { clients } from "../../targets/clients/index.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { isEncrypted } from "../../targets/options.js";
import {
  type Availability,
  cannotExhaust,
  describeClient,
  otherFramework,
  resolveTarget,
  unsupportedLimits,
} from "../../targets/resolve.js";
import { groups } from "../../targets/target-groups.js";
import { isCluster } from "../../targets/topologies.js";
import { withLongWindow } from "../../traffic/long-window.js";
import { findProfile, findWorkload } from "../../traffic/lookup.js";
import { DEFAULT_TRAFFIC, profiles } from "../../traffic/profiles.js";
import { secondsOfSlices, shortestLengths } from "../../traffic/turn-order.js";
import { dynamicDurationS } from "../request/durations.js";
import { AUTO, type DurationMode, type Request, targetTexts } from "../request/request.js";
import { ALONE } from "../request/settings.js";
import { decisionRounds, firstRoundByTurns } from "./decision-rounds.js";
import { loadProgramReason } from "./load-program-targets.js";
import { orderedRuns, withDiagnosingRuns } from "./order.js";
import { notesOnSingleKeys, unsupportedFaults } from "./planned-faults.js";
import {
  addedReference,
  describeRankings,
  isControl,
  MIN_ROUNDS_FOR_A_COPY,
  noteOnStores,
  originals,
  type Planned,
  type Ranking,
  rankingsOf,
  referenceChooser,
  withCopies,
} from "./rankings.js";
import { capsOfKinds, roleCounts, workersOf } from "./role-counts.js";
import { type StoreFindings, storeLayerConfigurations } from "./store-layer.js";
import { reasonAgainstTurns } from "./turn-groups.js";

/** What a plan depends on besides the request: where it is measured. */
export interface PlanContext {
  /** Whether there is such a store: the runtime can start it, or it already runs. */
  available: Availability;
  caps?: KindCaps;
  /** The store that already runs, where one was named. */
  external?: Discovery | undefined;
  partFaults?: PartFaults;
  /** What the plan tells of the place where it is carried out. */
  placeNotes?: readonly string[];
  /** What the stores of the store layer lack; absent before they were asked. */
  findings?: StoreFindings;
}

function extentsOf(mode: DurationMode, connections: number, target: Target): Extent[] {
  switch (mode.mode) {
    case "fixed":
      return [{ duration_s: mode.seconds }];
    case "requests":
      return mode.counts.map((requests) => ({ requests }));
    case "dynamic":
      return [{ duration_s: dynamicDurationS(connections, isCluster(target.topology)) }];
  }
}

type ResolvedTargets = { targets: Target[]; skips: Plan["skips"]; notes: string[] };

interface RequestedTarget {
  target: Target;
  texts: string[];
  /** Why another store replaces its default one. */
  note?: string | undefined;
}

/**
 * What may surprise the user: another store than the default, and a target that was requested
 * twice.
 */
function notesOn({ target: { label }, texts, note }: RequestedTarget): string[] {
  if (note) return [texts.length > 1 ? `${note}; that is ${label}, which is measured once` : note];
  return texts.slice(1).map((text) => `${text} is ${label}, which is measured once`);
}

/** The requested targets that can be measured here, each once, and why the others cannot. */
function resolveTargets(request: Request, { available, external }: PlanContext): ResolvedTargets {
  const words = [...clients.map(({ id }) => id), ...Object.keys(groups)];
  for (const word of request.clients)
    if (idSchema.safeParse(word).success) requireKnown("client or group", word, words);
  const targets = new Map<string, RequestedTarget>();
  const skips: Plan["skips"] = [];
  for (const text of new Set(targetTexts(request))) {
    const resolution = resolveTarget(text, available);
    if ("skip" in resolution) {
      skips.push({ asked: text, reason: resolution.skip });
      continue;
    }
    const { target, note } = resolution;
    const { topology } = target;
    if (external && topology !== "none" && topology !== external.topology) {
      skips.push({ asked: text, reason: `the store that already runs is ${external.topology}` });
      continue;
    }
    const earlier = targets.get(target.text);
    targets.set(target.text, {
      target,
      texts: [...(earlier?.texts ?? []), text],
      note: earlier?.note ?? note,
    });
  }
  const found = [...targets.values()];
  return {
    targets: found.map(({ target }) => target),
    skips,
    notes: [...new Set(found.flatMap(notesOn))],
  };
}

/** Open loops at each requested rate, or else closed loops with each number of connections. */
function loadsOf({ connections, rates, arrivals }: Request): Load[] {
  if (rates.length === 0)
    return connections.map((count) => ({ model: "closed", connections: count }));
  return rates.flatMap((rate_per_second) =>
    connections.map((count) => ({
      model: "open" as const,
      rate_per_second,
      arrivals,
      connections: count,
    })),
  );
}

/** Where the load enters: one of the servers' endpoints or, once, the limiter itself. */
type Entry = Pick<Configuration, "layer" | "workload" | DimensionKey>;

function entriesOf({ layers, counts, workloads: ids, complexity }: Request): Entry[] {
  const endpoints = ids.map((id) => (findWorkload(id).computes ? { id, complexity } : { id }));
  return layers.flatMap((layer) =>
    (isProgramLayer(layer) ? [] : countsAt(layer, counts)).flatMap((each) =>
      (isClientLayer(layer) ? [NO_WORKLOAD] : endpoints).map((workload) => ({
        layer,
        ...namedCounts(each),
        workload,
      })),
    ),
  );
}

/**
 * Each combination of the numbers of all dimensions; a dimension that a layer does not have is 0
 * there.
 */
function countsAt(layer: Layer, counts: Request["counts"]): DimensionCounts[] {
  return dimensions.reduce<DimensionCounts[]>(
    (combined, { key, layers }) =>
      combined.flatMap((each) =>
        (layers.some((own) => own === layer) ? counts[key] : [0]).map((count) => ({
          ...each,
          [key]: count,
        })),
      ),
    [byDimension(() => 0)],
  );
}

function requireConnections({ layers, counts, connections, duration, rates }: Request): void {
  const [least, widest] = [Math.min(...connections), Math.max(...connections)];
  const fewest =
    duration.mode === "requests" ? Math.min(...duration.counts) : Number.POSITIVE_INFINITY;
  if (rates.length === 0 && fewest < widest)
    throw usageError(
      `${fewest} requests are fewer than --concurrency ${widest}: each connection sends at least one`,
    );
  for (const { key, one, layers: own } of dimensions) {
    const most = Math.max(...counts[key]);
    if (layers.some((layer) => own.some((each) => each === layer)) && most > least)
      throw usageError(
        `--${key} ${most} is more than --concurrency ${least}: each ${one} needs a connection of its own`,
      );
  }
}

/**
 * Why a target whose counters are in each process of its own cannot keep the limits: every server,
 * or worker at the limiter layer, would admit the whole quota. Only a quota that requests can use
 * up matters.
 */
function separateCounters(
  configuration: Pick<
    Configuration,
    "target" | "layer" | DimensionKey | "load" | "traffic" | "limits"
  >,
  workers: number,
): string | undefined {
  const { target, layer, servers, generators = 1, load, traffic, limits } = configuration;
  const profile = findProfile(traffic);
  if (usesStore(target) || target.limiter === "none" || limits.points >= profile.limits.points)
    return undefined;
  // What such a limiter admits is what this traffic shows.
  if (profile.binding) return undefined;
  const [processes, kind] = isClientLayer(layer)
    ? [generators * workersOf({ generators, load }, workers), "workers"]
    : [servers, "servers"];
  if (processes === 1) return undefined;
  return `each of ${processes} ${kind} has counters of its own, so keys would get ${processes} times their quota of ${limits.points}`;
}

/**
 * Why a load cannot be made by several generators; undefined where it can, or there is one alone.
 */
function undividedLoad(entry: Entry, traffic: string): string | undefined {
  const generators = countIn(entry, "generators");
  if (generators === USUAL || !findProfile(traffic).binding) return undefined;
  return `--generators ${generators}: the traffic ${traffic} takes one generator, which keeps every request by one clock`;
}

function frameworkReason({ layer }: Entry, target: Target): string | undefined {
  if (!isClientLayer(layer)) return otherFramework(target);
  return (
    target.framework &&
    `${target.framework} is the server's framework: measure it with --layer server`
  );
}

/** Why a target whose denials have another cost cannot take a traffic that is not all admitted. */
function unequalDenials(target: Target, traffic: string, limits: Limits): string | undefined {
  const reason = cannotExhaust(target);
  if (reason === undefined) return undefined;
  const profile = findProfile(traffic);
  // Nothing is exhausted there before it is sent.
  if (profile.binding) return undefined;
  const isExhausted = (key: string) => key.startsWith(EXHAUSTED_KEY_PREFIX);
  const denies =
    limits.points < profile.limits.points ||
    profile.population().requests.some((descriptors) => descriptors.some(isExhausted));
  return denies
    ? `${target.limiter} takes traffic alone that is all admitted, e.g. --traffic allowed: ${reason}`
    : undefined;
}

const nodeReason = ({ node }: Target, layer: Layer): string | undefined =>
  node !== undefined && isClientLayer(layer)
    ? `+node-${node} is the Node of the server, and the layer ${layer} has none`
    : undefined;

const serviceEnvOf = (
  { serviceEnv }: Request,
  { service }: Target,
): Pick<Configuration, "service_env"> => {
  const own = service === undefined ? undefined : serviceEnv[service];
  return own ? { service_env: own } : {};
};

/** Why an option of the target and a setting of the user contradict each other. */
function serviceConflict(request: Request, target: Target): string | undefined {
  const { serviceEnvironment = {} } = describeClient(target);
  const { service_env = {} } = serviceEnvOf(request, target);
  const both = Object.keys(service_env).find((name) => name in serviceEnvironment);
  return (
    both && `an option of this target sets ${both}, and so does --service-env: give one of them`
  );
}

/** Why the store cannot get a certificate of ours. */
function encryptionReason({ storeAccess, runtime }: Request, target: Target): string | undefined {
  if (!isEncrypted(target)) return undefined;
  if (storeAccess.STORE_URL)
    return "+tls is for stores that the campaign starts: give rediss:// in STORE_URL";
  return runtime === "kubernetes"
    ? "+tls: a pod gets its address after its files: give --runtime local, docker or podman"
    : undefined;
}

/**
 * Of a traffic whose quota binds, the limits with the quota that follows from the load.
 * @throws usageError that names the traffic, and what would help
 */
function boundLimits(
  request: Request,
  traffic: string,
  limits: Limits,
  load: Load,
  extent: Extent,
): Limits {
  const { binding } = findProfile(traffic);
  if (!binding) return limits;
  const { limits: asked, objectives, warmupS } = request;
  const refuse = (problem: string) => usageError(`--traffic ${traffic}: ${problem}`);
  if (asked.points.length > 0)
    throw refuse("its quota follows from rate and window: leave --points out");
  if (limits.block_s > 0)
    throw refuse("a block would hide what a window admits: leave --block out");
  if (objectives)
    throw refuse("its quota follows from the rate: give --rate in place of --find-max-rate");
  const problem = binding.problemWith(load, extent, limits.window_s, warmupS);
  if (problem || load.model === "closed") throw refuse(problem ?? "");
  const { cost = 1 } = limits;
  return { ...limits, points: cost * binding.quotaAt(load.rate_per_second, limits.window_s) };
}

function limitsOf(
  { limits: { points, windowsS, costs, blockS } }: Request,
  traffic: string,
): Limits[] {
  const { cost: usualCost = 1, ...usual } = findProfile(traffic).limits;
  const orElse = (given: readonly number[], fallback: number) =>
    given.length > 0 ? given : [fallback];
  return orElse(points, usual.points).flatMap((quota) =>
    orElse(windowsS, usual.window_s).flatMap((window_s) =>
      orElse(costs, usualCost).map((cost) => ({
        points: quota,
        window_s,
        block_s: blockS ?? usual.block_s,
        ...(cost > 1 ? { cost } : {}),
      })),
    ),
  );
}

const listedLimits = ({ limits: { points, windowsS } }: Request): ListedLimit[] => [
  ...(points.length > 1 ? ["points" as const] : []),
  ...(windowsS.length > 1 ? ["window_s" as const] : []),
];

/** Every target with every layer, dimension, workload, traffic, limits and load. */
function combine(
  request: Request,
  targets: readonly Target[],
  { caps = {}, external, partFaults }: PlanContext,
): { configurations: Planned[]; unsupported: Plan["skips"] } {
  // A dry run does not contact it, and refuses what the run would refuse.
  const isExternal = external !== undefined || request.storeAccess.STORE_URL !== undefined;
  const planned = new Map<string, Planned>();
  // Those whose limiter cannot keep the limits, by what is said about them.
  const unsupported = new Map<string, Plan["skips"][number]>();
  const leaveOut = ({ label }: Target, reason: string) =>
    unsupported.set(`${label}: ${reason}`, { asked: label, reason });
  for (const entry of entriesOf(request)) {
    const mixes = request.traffic.flatMap((traffic) =>
      limitsOf(request, traffic).map((limits) => ({ traffic, limits })),
    );
    for (const { traffic, limits: asked } of mixes) {
      for (const load of loadsOf(request)) {
        for (const target of targets) {
          for (const extent of extentsOf(request.duration, load.connections, target)) {
            const limits = boundLimits(request, traffic, asked, load, extent);
            const reason =
              unsupportedLimits(target, limits) ??
              unequalDenials(target, traffic, limits) ??
              serviceConflict(request, target) ??
              encryptionReason(request, target) ??
              undividedLoad(entry, traffic) ??
              nodeReason(target, entry.layer) ??
              frameworkReason(entry, target) ??
              loadProgramReason({ ...entry, target, traffic, load }, request) ??
              separateCounters({ ...entry, target, traffic, load, limits }, request.workers);
            if (reason) {
              leaveOut(target, reason);
              continue;
            }
            const started = {
              ...entry,
              target,
              ...(isExternal && target.topology !== "none"
                ? { external_store: true as const }
                : {}),
            };
            for (const faults of request.faults) {
              const impossible = unsupportedFaults(faults, started, partFaults);
              if (impossible) {
                leaveOut(target, impossible);
                continue;
              }
              const configuration: Configuration = {
                ...started,
                traffic,
                load,
                extent,
                limits:
                  request.limits.windowsS.length > 0 ? limits : withLongWindow(limits, extent),
                ...(faults.length > 0 ? { faults: [...faults] } : {}),
                ...serviceEnvOf(request, target),
                caps: capsOfKinds(caps, roleCounts(started)),
              };
              const entry = plannedFrom(configuration);
              planned.set(entry.hash, entry);
            }
          }
        }
      }
    }
  }
  return { configurations: [...planned.values()], unsupported: [...unsupported.values()] };
}

function runsOf(
  request: Request,
  configurations: readonly Planned[],
  rankings: readonly Ranking[],
): Plan["runs"] {
  const listed = listedLimits(request);
  const nameOf = ({ configuration: own }: Planned) =>
    configurationFileName(own, DEFAULT_TRAFFIC, listed);
  const names = new Map(configurations.map((planned) => [planned.hash, nameOf(planned)]));
  return orderedRuns(request, configurations, rankings).map((run) => ({
    ...run,
    file: `${names.get(run.configuration_hash)}_run${run.run}.json`,
  }));
}

function adaptivePlan(
  { order, runs, adaptive }: Request,
  rankings: readonly Ranking[],
): Plan["adaptive"] {
  const comparisons = Math.max(1, ...rankings.map(({ members }) => originals(members).length - 1));
  const first = order === "turns" ? firstRoundByTurns(comparisons) : undefined;
  const { budgetS } = adaptive ?? {};
  return {
    looks: decisionRounds(runs, first),
    ...(budgetS === undefined ? {} : { budget_s: budgetS }),
  };
}

export interface SelectedConfigurations extends Pick<Plan, "configurations" | "skips" | "notes"> {
  /** The reference that was added to a single target. */
  addedReference?: Target;
}

function referenceToAdd(
  targets: readonly Target[],
  request: Request,
  { available }: PlanContext,
): Target | undefined {
  const [target, ...others] = targets;
  const isCompared =
    !request.objectives &&
    request.diagnose !== ALONE &&
    request.faults.every((each) => each.length === 0);
  if (!target || others.length > 0 || !request.addsReference || !isCompared) return undefined;
  return addedReference(target, available);
}

/**
 * Without a context every store is available and no caps apply: this checks a request before
 * anything is started.
 * @throws usageError for what does not exist, for too few connections, and when nothing is left to
 *   measure
 */
export function selectConfigurations(
  request: Request,
  context: PlanContext = { available: () => true },
): SelectedConfigurations {
  const traffics = profiles.map(({ id }) => id);
  for (const id of request.traffic) requireKnown("traffic", id, traffics);
  requireConnections(request);
  const { targets, skips, notes } = resolveTargets(request, context);
  const added = referenceToAdd(targets, request, context);
  const { configurations, unsupported } = combine(
    request,
    added ? [...targets, added] : targets,
    context,
  );
  const ofStores = storeLayerConfigurations(request, context);
  configurations.push(...ofStores.configurations);
  const allSkips = [...skips, ...unsupported, ...ofStores.skips];
  if (configurations.length === 0) {
    const reasons = allSkips.map(({ asked, reason }) => `${asked}: ${reason}`).join("; ");
    throw usageError(`nothing is left to measure (${reasons})`);
  }
  if (request.thresholds.length > 0 && configurations.every(isControl))
    throw usageError(
      "--threshold: controls are not judged: add a client, e.g. --clients iovalkey,memory",
    );
  // Refuses a reference that is not measured.
  referenceChooser(request.reference, configurations);
  const onKeys = notesOnSingleKeys(configurations.map(({ configuration }) => configuration));
  const [single, ...others] = targets;
  const onReference = added
    ? `${added.label} is added as the reference by which campaigns are compared`
    : `--reference ${AUTO}: nothing that could be added is ranked with ${single?.label}`;
  const asksForReference = request.addsReference && single !== undefined && others.length === 0;
  return {
    configurations,
    skips: allSkips,
    notes: [...notes, ...(asksForReference ? [onReference] : []), ...ofStores.notes, ...onKeys],
    ...(added ? { addedReference: added } : {}),
  };
}

/**
 * What turns can tell where each target has a generator of its own: how far ratios of one round lie
 * apart.
 */
const precisionNotes = (configurations: readonly Planned[]): string[] =>
  configurations.some(({ configuration: { layer } }) => isClientLayer(layer))
    ? [
        "limiter layer: each target has a generator of its own; there pairs of equal targets deviated by about 8 % on two shared CPUs",
      ]
    : [];

/** What a store does at its memory's limit to the counters of a limiter, which end. */
function atItsLimit(policy: string): string {
  if (policy === "noeviction") return "at it, decisions fail";
  return `at it, keys are evicted (${policy}): limits are forgotten without an error`;
}

/** Planned seconds that hold too few cycles even of the shortest slices. */
function lengthenedNotes(configurations: readonly Planned[]): string[] {
  const texts = configurations.flatMap(({ configuration: { layer, extent } }) => {
    if (!("duration_s" in extent)) return [];
    const shortest = shortestLengths(layer);
    const seconds = secondsOfSlices(extent.duration_s, shortest);
    if (seconds === extent.duration_s) return [];
    return [
      `${layer} layer: ${extent.duration_s} s hold fewer than ${MIN_CYCLES} slices of ${shortest.slice_ms} ms: each target gets ${seconds} s`,
    ];
  });
  return [...new Set(texts)];
}

function externalNotes({ store, version, memory }: Discovery): string[] {
  const found = [`the store is one that already ran: ${store} ${version}`];
  if (!memory) return [...found, "the limit of its memory (maxmemory) is not known"];
  const { max_bytes, policy } = memory;
  const limit = `its memory is limited to ${(max_bytes / 1e6).toFixed(0)} MB: ${atItsLimit(policy)}`;
  return [...found, max_bytes === 0 ? "its memory has no limit (maxmemory 0)" : limit];
}

/** Pure: the same request, stores and caps give the same plan. Throws as `selectConfigurations`. */
export function makePlan(asked: Request, context: PlanContext): Plan {
  const { external } = context;
  const {
    configurations: selected,
    addedReference: added,
    skips,
    notes,
  } = selectConfigurations(asked, context);
  const loads = selected.map(({ configuration }) => configuration);
  const against = asked.order === "turns" ? reasonAgainstTurns(asked, loads) : undefined;
  const request = against ? { ...asked, order: "interleaved" as const } : asked;
  const referenceOf = referenceChooser(added?.text ?? request.reference, selected);
  const rankingsIn = (members: readonly Planned[]) =>
    rankingsOf(members, referenceOf, request.comparesFrameworks);
  const isRanked = request.diagnose !== "alone";
  const hasCopies = request.copies && isRanked && request.runs >= MIN_ROUNDS_FOR_A_COPY;
  const configurations = hasCopies ? withCopies(selected, rankingsIn(selected)) : selected;
  const rankings = rankingsIn(configurations);
  const isCompared = rankings.some(({ reference }) => reference);
  const stores = configurations.flatMap(({ configuration: { layer, target } }) =>
    isProgramLayer(layer) ? [target.store] : [],
  );
  const apart = isRanked ? noteOnStores(rankings, context.available) : undefined;
  const storeReference = stores.find((id) => id === request.reference) ?? stores[0];
  return {
    schema: PLAN_SCHEMA,
    schema_version: PLAN_SCHEMA_VERSION,
    seed: request.seed,
    order: request.order,
    runs_per_configuration: isRanked ? request.runs : 1,
    ...(request.adaptive && isRanked ? { adaptive: adaptivePlan(request, rankings) } : {}),
    warmup_s: request.warmupS,
    cooldown_s: request.cooldownS,
    client_cooldown_s: request.clientCooldownS,
    configurations,
    runs: withDiagnosingRuns(
      request.diagnose,
      configurations,
      runsOf(request, configurations, rankings),
    ),
    skips,
    rankings: describeRankings(rankings, request.comparesFrameworks),
    ...(added ? { reference_added: true as const } : {}),
    ...(storeReference === undefined ? {} : { reference: storeReference }),
    notes: [
      ...notes,
      ...(apart ? [apart] : []),
      ...(request.order === "turns"
        ? [...precisionNotes(configurations), ...lengthenedNotes(configurations)]
        : []),
      ...(against && isCompared ? [`not by turns, but interleaved: ${against}`] : []),
      ...(external ? externalNotes(external) : []),
      ...(context.placeNotes ?? []),
      // M16
      ...(request.order === "consecutive" && configurations.length > 1
        ? [
            "runs of a configuration follow each other: drift of the machine is not excluded from comparisons",
          ]
        : []),
    ],
  };
}
