import { appClientId } from "../../contract/app.js";
import {
  type Configuration,
  configurationFileName,
  type FileNameLimit,
  type KindCaps,
} from "../../contract/configuration.js";
import { dimensions } from "../../contract/dimensions.js";
import { isProgramLayer } from "../../contract/layers.js";
import { PLAN_SCHEMA, PLAN_SCHEMA_VERSION, type Plan, plannedFrom } from "../../contract/plan.js";
import type { Discovery } from "../../contract/store.js";
import type { Target } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import { sum } from "../../kit/numbers.js";
import type { PartFaults } from "../../runtimes/runtime-types.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import type { Availability } from "../../targets/resolve.js";
import { withLongWindow } from "../../traffic/long-window.js";
import { DEFAULT_TRAFFIC, profiles } from "../../traffic/profiles.js";
import { ALONE } from "../request/measure-settings.js";
import type {
  Request,
  RequestedComparisons,
  RequestedEntries,
  RequestedLimits,
  RequestedLoad,
  RequestedRounds,
} from "../request/request.js";
import { AUTO } from "../request/setting-values.js";
import { type Candidate, candidatesOf } from "./candidates.js";
import { withCurveFamilies } from "./curve-groups.js";
import { decisionRounds, firstRoundByTurns } from "./decision-rounds.js";
import { orderedRuns, withDiagnosingRuns } from "./order.js";
import {
  notesOnCurve,
  notesOnDrift,
  notesOnExternalStore,
  notesOnRunningApps,
  notesOnTurns,
} from "./plan-notes.js";
import { notesOnSingleKeys, unsupportedFaults } from "./planned-faults.js";
import { plannedTargets } from "./planned-targets.js";
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
import { refusalOf, requestedServiceEnv } from "./refusals.js";
import { capsOfKinds, roleCounts } from "./role-counts.js";
import { hasSpareRound } from "./spare-round.js";
import { type StoreFindings, storeLayerConfigurations } from "./store-layer.js";
import { reasonAgainstTurns } from "./turn-groups.js";

/** The place where a plan is measured, on which it depends besides the request. */
export interface PlanContext {
  /** Whether a store is available, because the runtime can start it or it already runs. */
  available: Availability;
  caps?: KindCaps;
  /** The store that already runs, where one was named. */
  external?: Discovery | undefined;
  partFaults?: PartFaults;
  /** Notes on the place where the plan is carried out. */
  placeNotes?: readonly string[];
  /** The features of the stores of the store layer; absent before they were asked. */
  findings?: StoreFindings;
}

/** @throws usageError where a connection would have nothing to do, or a part no connection */
function requireConnections(
  { layers, counts }: RequestedEntries,
  { connections, duration, rates, curve }: RequestedLoad,
): void {
  const fewest = Math.min(...connections, curve?.saturation ?? Number.POSITIVE_INFINITY);
  const most = Math.max(...connections);
  const fewestRequests =
    duration.mode === "requests" ? Math.min(...duration.counts) : Number.POSITIVE_INFINITY;
  if (rates.length === 0 && fewestRequests < most)
    throw usageError(
      `${fewestRequests} requests are fewer than --concurrency ${most}: each connection sends at least one`,
    );

  for (const dimension of dimensions) {
    const mostParts = Math.max(...counts[dimension.key]);
    const isRequested = dimension.layers.some((layer) => layers.includes(layer));
    if (isRequested && mostParts > fewest)
      throw usageError(
        `--${dimension.key} ${mostParts} is more than --concurrency ${fewest}: each ${dimension.one} needs a connection of its own`,
      );
  }
}

type SkippedTargets = Pick<Plan, "configurations" | "skips">;

/** The configurations that are measured, each once, and why other candidates are skipped. */
function combine(
  request: Request,
  targets: readonly Target[],
  { caps = {}, external, partFaults }: PlanContext,
): SkippedTargets {
  // A dry run does not contact the store, but refuses what the run would refuse.
  const isExternal = external !== undefined || request.place.storeAccess.STORE_URL !== undefined;
  const planned = new Map<string, Planned>();
  const skips = new Map<string, Plan["skips"][number]>();
  const skip = ({ label }: Target, reason: string) =>
    skips.set(`${label}: ${reason}`, { asked: label, reason });

  for (const candidate of candidatesOf(request, targets)) {
    const { entry, target } = candidate;
    const refusal = refusalOf(candidate, request);
    if (refusal !== undefined) {
      skip(target, refusal);
      continue;
    }

    const usesExternal = isExternal && target.topology !== "none";
    const started = definedOnly({
      ...entry,
      target,
      external_store: usesExternal ? (true as const) : undefined,
      external_server: isRunning(target, request.apps) ? (true as const) : undefined,
    });
    for (const faults of request.load.faults) {
      const faultReason = unsupportedFaults(faults, started, partFaults);
      if (faultReason !== undefined) {
        skip(target, faultReason);
        continue;
      }

      const configuration: Configuration = definedOnly({
        ...started,
        ...measuredPart(candidate, request),
        faults: faults.length > 0 ? [...faults] : undefined,
        service_env: requestedServiceEnv(request.targets.serviceEnv, target),
        caps: capsOfKinds(caps, roleCounts(started)),
      });
      const plannedConfiguration = plannedFrom(configuration);
      planned.set(plannedConfiguration.hash, plannedConfiguration);
    }
  }
  return { configurations: [...planned.values()], skips: [...skips.values()] };
}

/** The seconds that a round of a load curve does not reach. */
const LONGEST_CURVE_S = 1_700;

/** Whether a target is an app that already runs. */
const isRunning = ({ client }: Target, requested: Request["apps"]): boolean =>
  requested?.apps.some(({ name, origin }) => origin && appClientId(name) === client) ?? false;

/** The traffic, load, extent and limits. Without a requested window they get one that no run outlasts. */
function measuredPart(
  { traffic, load, extent, limits }: Candidate,
  { limits: requested, load: { curve } }: Pick<Request, "limits" | "load">,
): Pick<Configuration, "traffic" | "load" | "extent" | "limits"> {
  const hasOwnWindow = requested.windowsS.length > 0;
  // The store counts the requests of all turns of a round.
  const counted = curve ? { duration_s: LONGEST_CURVE_S } : extent;
  return {
    traffic,
    load,
    extent,
    limits: hasOwnWindow ? limits : withLongWindow(limits, counted),
  };
}

/** Limits with several values, which the names of result files tell apart. */
function listedLimits({ points, windowsS }: RequestedLimits): FileNameLimit[] {
  const listed: FileNameLimit[] = [];
  if (points.length > 1) listed.push("points");
  if (windowsS.length > 1) listed.push("window_s");
  return listed;
}

function runsOf(
  request: Request,
  configurations: readonly Planned[],
  rankings: readonly Ranking[],
): Pick<Plan, "runs" | "fillers"> {
  const listed = listedLimits(request.limits);
  const names = new Map(
    configurations.map(({ hash, configuration }) => [
      hash,
      configurationFileName(configuration, DEFAULT_TRAFFIC, listed),
    ]),
  );

  const { runs, fillers } = orderedRuns(request, configurations, rankings);
  return definedOnly({
    runs: runs.map((run) => ({
      ...run,
      file: `${names.get(run.configuration_hash)}_run${run.run}.json`,
    })),
    fillers: fillers.length > 0 ? fillers : undefined,
  });
}

/** A gate judges throughput and CPU of all its targets as one family. */
const FIGURES_OF_A_GATE = 2;

/** The decisions and the budget of an adaptive campaign; undefined for any other. */
function adaptivePlan(
  { order, runs, adaptive }: RequestedRounds,
  rankings: readonly Ranking[],
): Plan["adaptive"] {
  if (!adaptive) return undefined;
  const { budgetS, toleratePercent } = adaptive;
  const families = rankings.map(({ members }) => Math.max(0, originals(members).length - 1));
  const comparisons =
    toleratePercent === undefined ? Math.max(1, ...families) : FIGURES_OF_A_GATE * sum(families);
  const firstRound = order === "turns" ? firstRoundByTurns(Math.max(1, comparisons)) : undefined;
  return definedOnly({
    looks: decisionRounds(runs, firstRound),
    budget_s: budgetS,
    tolerate_percent: toleratePercent,
  });
}

export interface SelectedConfigurations extends Pick<Plan, "configurations" | "skips" | "notes"> {
  /** The reference that was added to a single target. */
  addedReference?: Target;
}

function referenceToAdd(
  targets: readonly Target[],
  { comparisons, load, rounds }: Request,
  { available }: PlanContext,
): Target | undefined {
  const [target, ...others] = targets;
  const isCompared =
    !load.objectives &&
    rounds.diagnose !== ALONE &&
    load.faults.every((faults) => faults.length === 0);
  if (!target || others.length > 0 || !comparisons.addsReference || !isCompared) return undefined;
  return addedReference(target, available);
}

/** Notes on the outcome of `--reference auto`, which several targets do not need. */
function notesOnReference(
  { addsReference }: RequestedComparisons,
  targets: readonly Target[],
  added: Target | undefined,
): string[] {
  const [target, ...others] = targets;
  if (!addsReference || !target || others.length > 0) return [];
  if (added) return [`${added.label} is added as the reference by which campaigns are compared`];
  return [`--reference ${AUTO}: nothing that could be added is ranked with ${target.label}`];
}

/** @throws usageError where the requested traffic is unknown or the connections do not suffice */
function requireMeasurable(request: Request): void {
  const traffics = profiles.map(({ id }) => id);
  for (const id of request.load.traffic) requireKnown("traffic", id, traffics);
  requireConnections(request.entries, request.load);
}

/** @throws usageError where nothing is left to measure, or nothing that the request judges by */
function requireSelected(
  { configurations, skips }: SkippedTargets,
  { reference, thresholds }: RequestedComparisons,
): void {
  if (configurations.length === 0) {
    const reasons = skips.map(({ asked, reason }) => `${asked}: ${reason}`).join("; ");
    throw usageError(`nothing is left to measure (${reasons})`);
  }
  if (thresholds.length > 0 && configurations.every(isControl))
    throw usageError(
      "--threshold: controls are not judged: add a client, e.g. --clients iovalkey,memory",
    );
  // Choosing refuses a reference that is not measured.
  referenceChooser(reference, configurations);
}

/**
 * Selects the configurations of a request. Without a context every store is available and no caps
 * apply, which checks a request before anything is started.
 * @throws usageError for unknown names, for too few connections, and where nothing is left to measure
 */
export function selectConfigurations(
  request: Request,
  context: PlanContext = { available: () => true },
): SelectedConfigurations {
  requireMeasurable(request);
  const { targets, skips, notes } = plannedTargets(request.targets, context);
  const added = referenceToAdd(targets, request, context);
  const combined = combine(request, added ? [...targets, added] : targets, context);
  const storeLayer = storeLayerConfigurations(request, context);

  const selected = {
    configurations: [...combined.configurations, ...storeLayer.configurations],
    skips: [...skips, ...combined.skips, ...storeLayer.skips],
  };
  requireSelected(selected, request.comparisons);

  const measured = selected.configurations.map(({ configuration }) => configuration);
  return definedOnly({
    ...selected,
    notes: [
      ...notes,
      ...notesOnReference(request.comparisons, targets, added),
      ...storeLayer.notes,
      ...notesOnSingleKeys(measured),
    ],
    addedReference: added,
  });
}

/** The reference of the store layer, which is the store that the user named or else the first. */
function storeReference(
  { reference }: RequestedComparisons,
  configurations: readonly Planned[],
): string | undefined {
  const stores = configurations
    .filter(({ configuration }) => isProgramLayer(configuration.layer))
    .map(({ configuration }) => configuration.target.store);
  return stores.find((id) => id === reference) ?? stores[0];
}

/** The configurations and their rankings, with a copy of each reference where that is worth it. */
function rankedConfigurations(
  { comparisons, rounds, load }: Request,
  { configurations, addedReference: added }: SelectedConfigurations,
): { configurations: readonly Planned[]; rankings: Ranking[] } {
  const referenceOf = referenceChooser(added?.text ?? comparisons.reference, configurations);
  const rankingsIn = (members: readonly Planned[]) => {
    const rankings = rankingsOf(members, referenceOf, comparisons.comparesFrameworks);
    return load.curve ? withCurveFamilies(rankings) : rankings;
  };

  const rankings = rankingsIn(configurations);
  const hasCopies =
    comparisons.copies && rounds.diagnose !== ALONE && rounds.runs >= MIN_ROUNDS_FOR_A_COPY;
  if (!hasCopies) return { configurations, rankings };

  const copied = withCopies(configurations, rankings);
  return { configurations: copied, rankings: rankingsIn(copied) };
}

const curveOf = ({ curve, rates }: RequestedLoad): Plan["load_curve"] =>
  curve && { rates: [...rates], saturation: curve.saturation !== undefined };

const interleaved = (request: Request): Request => ({
  ...request,
  rounds: { ...request.rounds, order: "interleaved" },
});

/**
 * Makes the plan of a request. The same request, stores and caps give the same plan.
 * @throws usageError as `selectConfigurations`, and where a load curve cannot go by turns
 */
export function makePlan(requested: Request, context: PlanContext): Plan {
  const selected = selectConfigurations(requested, context);
  const measured = selected.configurations.map(({ configuration }) => configuration);
  const againstTurns =
    requested.rounds.order === "turns" ? reasonAgainstTurns(requested, measured) : undefined;
  if (againstTurns && requested.load.curve)
    throw usageError(`a load curve goes by turns, and this one cannot: ${againstTurns}`);
  const request = againstTurns ? interleaved(requested) : requested;
  const { comparisons, rounds, pauses, load } = request;

  const { configurations, rankings } = rankedConfigurations(request, selected);
  const isRanked = rounds.diagnose !== ALONE;
  const { runs: counted, fillers } = runsOf(request, configurations, rankings);

  const notes = [...selected.notes];
  const noteOnOtherStore = isRanked ? noteOnStores(rankings, context.available) : undefined;
  if (noteOnOtherStore !== undefined) notes.push(noteOnOtherStore);
  notes.push(...notesOnRunningApps(configurations));
  if (load.curve) notes.push(...notesOnCurve(configurations));
  else notes.push(...notesOnTurns(rounds.order, configurations));
  const isCompared = rankings.some(({ reference }) => reference !== undefined);
  if (againstTurns && isCompared) notes.push(`not by turns, but interleaved: ${againstTurns}`);
  if (context.external) notes.push(...notesOnExternalStore(context.external));
  notes.push(...(context.placeNotes ?? []));
  notes.push(...notesOnDrift(rounds.order, configurations));

  const plan = definedOnly({
    seed: rounds.seed,
    order: rounds.order,
    runs_per_configuration: isRanked ? rounds.runs : 1,
    margin_percent: comparisons.marginPercent,
    adaptive: isRanked ? adaptivePlan(rounds, rankings) : undefined,
    load_curve: curveOf(load),
    warmup_s: pauses.warmupS,
    cooldown_s: pauses.cooldownS,
    client_cooldown_s: pauses.clientCooldownS,
    configurations: [...configurations],
    runs: withDiagnosingRuns(rounds.diagnose, [...configurations], counted),
    fillers,
    skips: selected.skips,
    rankings: describeRankings(rankings, comparisons.comparesFrameworks),
    reference_added: selected.addedReference ? (true as const) : undefined,
    reference: storeReference(comparisons, configurations),
    notes,
  });
  const document = { schema: PLAN_SCHEMA, schema_version: PLAN_SCHEMA_VERSION, ...plan } as const;
  if (!hasSpareRound(document)) return document;
  const oneMore = { ...request, rounds: { ...rounds, runs: rounds.runs + 1 } };
  const more = runsOf(oneMore, configurations, rankings);
  const spare_runs = more.runs.slice(counted.length);
  return { ...document, spare_runs, ...definedOnly({ fillers: more.fillers }) };
}
