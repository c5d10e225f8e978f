import {
  APP_WORKLOAD,
  type Configuration,
  type Extent,
  type Limits,
  type Load,
  NO_WORKLOAD,
  type Workload,
} from "../../contract/configuration.js";
import {
  byDimension,
  type DimensionCounts,
  type DimensionKey,
  dimensions,
  namedCounts,
} from "../../contract/dimensions.js";
import { isClientLayer, isProgramLayer, type Layer } from "../../contract/layers.js";
import type { Target } from "../../contract/target.js";
import { usageError } from "../../kit/errors.js";
import { isCluster } from "../../targets/topologies.js";
import { findProfile, findWorkload } from "../../traffic/lookup.js";
import { dynamicDurationS } from "../request/durations.js";
import type {
  DurationMode,
  Request,
  RequestedEntries,
  RequestedLimits,
  RequestedLoad,
} from "../request/request.js";

/** Where the load enters: one of the servers' endpoints or, once, the limiter itself. */
type Entry = Pick<Configuration, "layer" | "workload" | DimensionKey>;

/** A combination of what the request lists; a target may still have to refuse it. */
export interface Candidate {
  entry: Entry;
  target: Target;
  traffic: string;
  load: Load;
  extent: Extent;
  limits: Limits;
}

/**
 * Every target with every layer, dimension, workload, traffic, limits, load and extent, in the order
 * of a plan.
 * @throws usageError where a traffic whose quota binds contradicts the request
 */
export function* candidatesOf(
  request: Request,
  targets: readonly Target[],
): Generator<Candidate, void> {
  for (const { entry, traffic, load, limits } of mixesOf(request)) {
    for (const target of targets) {
      for (const extent of extentsOf(request.load.duration, load.connections, target)) {
        yield {
          entry,
          target,
          traffic,
          load,
          extent,
          limits: boundLimits(request, traffic, limits, load, extent),
        };
      }
    }
  }
}

/** What all targets get alike: where the load enters, its traffic and limits, and the load itself. */
function mixesOf(request: Request): Pick<Candidate, "entry" | "traffic" | "limits" | "load">[] {
  const loads = loadsOf(request.load);

  return entriesOf(request.entries).flatMap((entry) =>
    request.load.traffic.flatMap((traffic) =>
      limitsOf(request.limits, traffic).flatMap((limits) =>
        loads.map((load) => ({ entry, traffic, limits, load })),
      ),
    ),
  );
}

function entriesOf({ layers, counts, ...requested }: RequestedEntries): Entry[] {
  const endpoints = endpointsOf(requested);
  const ownLayers = layers.filter((layer) => !isProgramLayer(layer));

  return ownLayers.flatMap((layer) => {
    const workloads = isClientLayer(layer) ? [NO_WORKLOAD] : endpoints;
    return countsAt(layer, counts).flatMap((dimensionCounts) =>
      workloads.map((workload) => ({ layer, ...namedCounts(dimensionCounts), workload })),
    );
  });
}

function endpointsOf({
  workloads: ids,
  complexity,
  request,
}: Pick<RequestedEntries, "workloads" | "complexity" | "request">): Workload[] {
  if (request) return [{ id: APP_WORKLOAD, endpoint: request }];
  return ids.map((id) => (findWorkload(id).computes ? { id, complexity } : { id }));
}

/**
 * Each combination of the numbers of all dimensions; a dimension that a layer does not have is 0
 * there.
 */
function countsAt(layer: Layer, counts: RequestedEntries["counts"]): DimensionCounts[] {
  let combinations: DimensionCounts[] = [byDimension(() => 0)];
  for (const { key, layers } of dimensions) {
    const isCounted = layers.some((dimensionLayer) => dimensionLayer === layer);
    if (!isCounted) continue;
    combinations = combinations.flatMap((combination) =>
      counts[key].map((count) => ({ ...combination, [key]: count })),
    );
  }
  return combinations;
}

/**
 * Open loops at each requested rate, or else closed loops with each number of connections. A load
 * curve may have both.
 */
function loadsOf({ connections, rates, arrivals, curve }: RequestedLoad): Load[] {
  if (rates.length === 0)
    return connections.map((count) => ({ model: "closed", connections: count }));

  const open = rates.flatMap((rate_per_second) =>
    connections.map((count) => ({
      model: "open" as const,
      rate_per_second,
      arrivals,
      connections: count,
    })),
  );
  const fullLoad = curve?.saturation;
  return fullLoad === undefined ? open : [...open, { model: "closed", connections: fullLoad }];
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

/** Every combination of the requested limits; the traffic's own replace those that none names. */
function limitsOf(requested: RequestedLimits, traffic: string): Limits[] {
  const { cost: defaultCost = 1, ...defaults } = findProfile(traffic).limits;
  const orDefault = (numbers: readonly number[], fallback: number) =>
    numbers.length > 0 ? numbers : [fallback];
  const quotas = orDefault(requested.points, defaults.points);
  const windows_s = orDefault(requested.windowsS, defaults.window_s);
  const costs = orDefault(requested.costs, defaultCost);
  const block_s = requested.blockS ?? defaults.block_s;

  return quotas.flatMap((points) =>
    windows_s.flatMap((window_s) =>
      costs.map((cost) => {
        const limits = { points, window_s, block_s };
        // A request costs one point unless the limits say something else.
        return cost > 1 ? { ...limits, cost } : limits;
      }),
    ),
  );
}

/**
 * The limits of a traffic whose quota binds get the quota that follows from the load.
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

  const refuse = (problem: string) => usageError(`--traffic ${traffic}: ${problem}`);
  if (request.limits.points.length > 0)
    throw refuse("its quota follows from rate and window: leave --points out");
  if (limits.block_s > 0)
    throw refuse("a block would hide what a window admits: leave --block out");
  if (request.load.objectives)
    throw refuse("its quota follows from the rate: give --rate in place of --find-max-rate");

  const problem = binding.problemWith(load, extent, limits.window_s, request.pauses.warmupS);
  if (problem || load.model === "closed") throw refuse(problem ?? "");

  const { cost = 1 } = limits;
  return { ...limits, points: cost * binding.quotaAt(load.rate_per_second, limits.window_s) };
}
