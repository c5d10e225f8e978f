import { type Configuration, canonicalJson } from "../../contract/configuration.js";
import { countIn, USUAL } from "../../contract/dimensions.js";
import { isClientLayer, isProgramLayer } from "../../contract/layers.js";
import { isCopy } from "../../targets/options.js";
import { isCluster } from "../../targets/topologies.js";
import { findProfile } from "../../traffic/lookup.js";
import type { Shuffler } from "../../traffic/shuffle.js";
import type { Request } from "../request/request.js";
import type { Planned, Ranking } from "./rankings.js";

/** Targets that are up at once and have the load by turns, at most (M16). */
const GROUP_SIZE = 5;
/** A cluster starts six nodes for each target. */
const CLUSTER_GROUP_SIZE = 3;

/** Why a campaign cannot go by turns; undefined where it can. */
export function reasonAgainstTurns(
  request: Pick<Request, "adaptive" | "diagnose" | "access" | "caps" | "storeAccess" | "objectives">,
  configurations: readonly Configuration[],
): string | undefined {
  if (configurations.length === 1) return "one target has the load alone";
  if (request.objectives) return "the search for the highest rate plans its own trials";
  if (request.adaptive) return "--runs auto takes its looks at interleaved runs";
  if (request.diagnose) return "runs with instruments are not compared";
  if (Object.values(request.access).some((access) => access !== undefined))
    return "the runs take place on several machines";
  if (request.storeAccess.STORE_URL) return "one store of others cannot be up once for each target";
  if (Object.values(request.caps).some(({ cpus }) => cpus !== undefined && cpus < 2))
    return "a cap below 2 CPUs is dealt in periods as long as a turn";
  for (const each of configurations) {
    const reason = againstTurns(each);
    if (reason) return reason;
  }
  const loads = new Set(configurations.map(loadKey));
  return loads.size === configurations.length ? "no two targets have the same load" : undefined;
}

function againstTurns(configuration: Configuration): string | undefined {
  const { layer, target, load, extent, faults, traffic, limits } = configuration;
  if (isProgramLayer(layer) || target.program !== undefined) return "a foreign program makes the load";
  if (isClientLayer(layer)) return "at the limiter layer each target is a generator of its own";
  if (faults) return "faults are planned";
  if (countIn(configuration, "generators") > USUAL) return "several generators make the load";
  if (load.model === "open") return "an open loop sends at its times";
  if (!("duration_s" in extent)) return "the runs have a number of requests";
  const profile = findProfile(traffic);
  if (profile.binding || limits.points < profile.limits.points) return "the quota binds";
  return undefined;
}

/** What the targets of a group share: all but the target. */
function loadKey(configuration: Configuration): string {
  const { target: _target, caps: _caps, service_env: _env, ...load } = configuration;
  return canonicalJson(load);
}

const sizeOf = (members: readonly Planned[], cpus: number): number =>
  cpus < 8 && members.some(({ configuration }) => isCluster(configuration.target.topology))
    ? CLUSTER_GROUP_SIZE
    : GROUP_SIZE;

/**
 * The groups of a round (M22): targets of equal load, each with the reference of its ranking and its copy. Who shares a group
 * is drawn anew each round.
 * @param cpus of the machine
 */
export function groupsOf(rankings: readonly Ranking[], { shuffle }: Shuffler, cpus: number): Planned[][] {
  const byLoad = new Map<string, Ranking[]>();
  for (const ranking of rankings) {
    const [first] = ranking.members;
    if (!first) continue;
    const key = loadKey(first.configuration);
    byLoad.set(key, [...(byLoad.get(key) ?? []), ranking]);
  }
  return shuffle([...byLoad.values()].flatMap((equal) => packed(equal, shuffle, cpus)));
}

function packed(rankings: readonly Ranking[], shuffle: Shuffler["shuffle"], cpus: number): Planned[][] {
  const size = sizeOf(
    rankings.flatMap(({ members }) => members),
    cpus,
  );
  const groups: Planned[][] = [];
  // Large rankings first: those that fit whole fill the groups that are left.
  for (const ranking of shuffle(rankings).toSorted((a, b) => b.members.length - a.members.length)) {
    for (const part of partsOf(ranking, size, shuffle)) {
      const group = groups.find((each) => each.length + part.length <= size);
      if (group) group.push(...part);
      else groups.push(part);
    }
  }
  return groups.map((group) => shuffle(group));
}

/** A ranking in parts of at most `size`, each with its reference and the reference's copy. */
function partsOf({ members, reference }: Ranking, size: number, shuffle: Shuffler["shuffle"]): Planned[][] {
  if (members.length <= size || !reference) return reference ? [[...members]] : members.map((each) => [each]);
  const always = members.filter((each) => each === reference || isCopy(each.configuration.target));
  const others = shuffle(members.filter((each) => !always.includes(each)));
  const room = Math.max(1, size - always.length);
  const count = Math.ceil(others.length / room);
  return Array.from({ length: count }, (_, part) => [
    ...always,
    ...others.filter((_, index) => index % count === part),
  ]);
}
