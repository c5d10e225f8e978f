import {
  type Configuration,
  type Limits,
  RANDOM_KEYS,
  type Workload,
} from "../../contract/configuration.js";
import { byDimension, namedCounts } from "../../contract/dimensions.js";
import { isProgramLayer } from "../../contract/layers.js";
import { type Plan, plannedFrom } from "../../contract/plan.js";
import type { StoreFeature } from "../../contract/store.js";
import type { Target } from "../../contract/target.js";
import { usageError } from "../../kit/errors.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { storeLayerPrograms } from "../../targets/load-programs/index.js";
import { findOperation, KEYSPACE } from "../../targets/load-programs/operations.js";
import { type Availability, findStore } from "../../targets/resolve.js";
import { stores } from "../../targets/stores/index.js";
import { dynamicDurationS } from "../request/durations.js";
import type {
  DurationMode,
  NamedPrograms,
  Request,
  RequestedStoreLayer,
} from "../request/request.js";
import type { Planned } from "./rankings.js";
import { capsOfKinds, roleCounts } from "./role-counts.js";

/**
 * The features that each store does not have, or why it cannot be measured at all. Stores that were
 * not asked are absent.
 */
export type StoreFindings = ReadonlyMap<string, readonly StoreFeature[] | string>;

const STANDALONE = "standalone";

/** The limits of configurations of the store layer, where no limiter decides. */
const NO_LIMITS: Limits = { points: 1, window_s: 60, block_s: 0 };

function requireKnownStores(ids: readonly string[], programs: NamedPrograms): void {
  const knownIds = stores.flatMap(({ id, program }) => (program ? [id] : []));
  const unknownId = ids.find(
    (id) => !knownIds.includes(id) && !programs.paths[id] && !programs.images[id],
  );
  if (unknownId === undefined) return;

  const shown = JSON.stringify(unknownId.slice(0, 60));
  throw usageError(
    `--stores: there is no store ${shown}${didYouMean(unknownId, knownIds)}; name the program of another server with --program ${unknownId}=PATH or --image ${unknownId}=REF`,
  );
}

/** Adds the stores of the store layer that the user names by a program or an image alone. */
export function registerNamedStores(ids: readonly string[], programs: NamedPrograms): void {
  for (const id of ids) {
    if (stores.some((store) => store.id === id) || !(programs.paths[id] || programs.images[id]))
      continue;
    (stores as (typeof stores)[number][]).push({
      id,
      engine: "resp",
      program: id,
      topologies: [STANDALONE],
      isNamed: true,
    });
  }
}

const targetOf = (program: string, store: string): Target => ({
  text: `${program}@${store}:${STANDALONE}`,
  label: store,
  client: program,
  store,
  topology: STANDALONE,
  limiter: "none",
  options: [],
  decided_by: "nothing",
  algorithm: "none",
});

/** Each operation with each payload size, and operations without a value once. */
function workloadsOf({ operations, payloadBytes }: RequestedStoreLayer): Workload[] {
  return operations.flatMap((id): Workload[] => {
    const { hasPayload } = findOperation(id);
    if (!hasPayload) return [{ id, keys: KEYSPACE }];
    return payloadBytes.map((payload_bytes) => ({ id, payload_bytes, keys: KEYSPACE }));
  });
}

const benchmarkHere = (available: Availability): string | undefined =>
  storeLayerPrograms.find(({ id }) => available(id) === true)?.id;

const NO_BENCHMARK = `no ${storeLayerPrograms.map(({ program }) => program).join(" or ")} was found: install one, or name it with --program ${storeLayerPrograms[0]?.id}=PATH (in containers --image ${storeLayerPrograms[0]?.id}=REF)`;

function missingStore(
  id: string,
  available: Availability,
  findings: StoreFindings,
): string | undefined {
  const { engine, program } = findStore(id);
  if (engine !== "resp")
    return `${id} does not speak RESP, which ${storeLayerPrograms[0]?.id} needs`;
  const availability = available(id);
  if (availability !== true) return availability || `no ${program} was found on this machine`;

  const finding = findings.get(id);
  return typeof finding === "string" ? finding : undefined;
}

const durationS = (duration: DurationMode, connections: number): number =>
  duration.mode === "fixed" ? duration.seconds : dynamicDurationS(connections, false);

interface StoreLayerContext {
  available: Availability;
  caps?: Configuration["caps"];
  findings?: StoreFindings;
}

interface StoreLayerPlan extends Pick<Plan, "skips" | "notes"> {
  configurations: Planned[];
}

/** Every store with every operation, payload and number of connections. @throws usageError */
export function storeLayerConfigurations(
  { entries, storeLayer, load, place }: Request,
  { available, caps = {}, findings = new Map() }: StoreLayerContext,
): StoreLayerPlan {
  if (!entries.layers.some(isProgramLayer)) return { configurations: [], skips: [], notes: [] };
  requireKnownStores(storeLayer.stores, place.programs);
  registerNamedStores(storeLayer.stores, place.programs);

  const program = benchmarkHere(available);
  const skips = new Map<string, string>();
  const usable: string[] = [];
  for (const id of storeLayer.stores) {
    const reason = program === undefined ? NO_BENCHMARK : missingStore(id, available, findings);
    if (reason === undefined) usable.push(id);
    else skips.set(id, reason);
  }

  const planned: Planned[] = [];
  const workloads = workloadsOf(storeLayer);
  for (const connections of load.connections) {
    for (const workload of workloads) {
      const { needs } = findOperation(workload.id);
      for (const id of usable) {
        if (needs && missingFeatures(id, findings).includes(needs)) {
          skips.set(`${id} ${workload.id}`, `${id} has no ${needs}`);
          continue;
        }
        const target = targetOf(program ?? "", id);
        planned.push(plannedStore(target, workload, load.duration, connections, caps));
      }
    }
  }

  return {
    configurations: planned,
    skips: [...skips].map(([asked, reason]) => ({ asked, reason })),
    notes: notesOnMissingFeatures(usable, findings),
  };
}

/** The features that a store was asked for and does not have. */
function missingFeatures(id: string, findings: StoreFindings): readonly string[] {
  const finding = findings.get(id);
  return Array.isArray(finding) ? finding : [];
}

const notesOnMissingFeatures = (stores: readonly string[], findings: StoreFindings): string[] =>
  stores
    .filter((id) => missingFeatures(id, findings).length > 0)
    .map((id) => `${id} has no ${missingFeatures(id, findings).join(", ")}`);

function plannedStore(
  target: Target,
  workload: Workload,
  duration: DurationMode,
  connections: number,
  caps: Configuration["caps"],
): Planned {
  const counts = namedCounts(byDimension(() => 0));
  return plannedFrom({
    layer: "store",
    target,
    ...counts,
    workload,
    traffic: RANDOM_KEYS,
    load: { model: "closed", connections },
    extent: { duration_s: durationS(duration, connections) },
    limits: NO_LIMITS,
    caps: capsOfKinds(caps, roleCounts({ target, ...counts })),
  });
}
