import { type Configuration, canonicalJson } from "../../contract/configuration.js";
import { countIn, DEFAULT_COUNT } from "../../contract/dimensions.js";
import { isProgramLayer } from "../../contract/layers.js";
import { parseTargetText } from "../../contract/target.js";
import { grouped } from "../../kit/grouped.js";
import { isCopy, SAME_SCRIPT } from "../../targets/options.js";
import { isCluster } from "../../targets/topologies.js";
import { findProfile } from "../../traffic/lookup.js";
import type { Shuffler } from "../../traffic/shuffle.js";
import type { Request } from "../request/request.js";
import { isControl, type Planned, type Ranking } from "./rankings.js";

/** The most targets that are up at once and have the load by turns (M16). */
export const GROUP_SIZE = 5;
/**
 * The most targets of a group on clusters where there are fewer than 8 CPUs, because a cluster has
 * six nodes.
 */
export const CLUSTERS = 3;

/** Why a campaign cannot go by turns; undefined where it can. */
export function reasonAgainstTurns(
  { load, rounds, place }: Pick<Request, "load" | "rounds" | "place">,
  configurations: readonly Configuration[],
): string | undefined {
  if (configurations.length === 1 && !load.curve) return "there is only one target";
  if (load.objectives)
    return "a search for the highest rate decides after each trial what it tries next";
  if (rounds.diagnose)
    return "--diagnose slows down what it looks at, so its runs are not compared";
  if (Object.values(place.access).some((access) => access !== undefined))
    return "turns need all targets on one machine";
  if (Object.values(place.caps).some(({ cpus }) => cpus !== undefined && cpus < 2))
    return "an engine enforces a cap below 2 CPUs in periods as long as a turn";

  for (const configuration of configurations) {
    const reason = againstTurns(configuration, load.curve !== undefined);
    if (reason) return reason;
  }
  if (load.curve) return undefined;
  const loads = new Set(configurations.map(loadKey));
  return loads.size === configurations.length ? "no two targets have the same load" : undefined;
}

/**
 * Why this configuration cannot share the load with others by turns; undefined where it can.
 * @param isOfCurve whether each turn is a run of a load curve, which sends at its rate
 */
function againstTurns(configuration: Configuration, isOfCurve: boolean): string | undefined {
  const { layer, target, load, extent, faults, traffic, limits } = configuration;
  if (isProgramLayer(layer) || target.program !== undefined)
    return "a load program such as wrk makes the load, which cannot wait for its turn";
  if (faults) return "a fault comes at a fixed time, which may be the turn of another target";
  if (countIn(configuration, "generators") > DEFAULT_COUNT)
    return "several generators share the load, and turns need one";
  if (load.model === "open" && !isOfCurve)
    return "requests at a rate are sent at fixed times, which would fall between turns";
  if (!("duration_s" in extent))
    return "the runs end after a number of requests, and turns need seconds";
  const profile = findProfile(traffic);
  if (profile.binding || limits.points < profile.limits.points)
    return "the quota is used up within a window, which turns would stretch";
  return undefined;
}

/** A key of the properties that the targets of a group share, which are all but the target. */
function loadKey(configuration: Configuration): string {
  const {
    target: _target,
    caps: _caps,
    service_env: _env,
    external_server: _isRunning,
    ...load
  } = configuration;
  return canonicalJson(load);
}

const onCluster = ({ configuration }: Planned): boolean => isCluster(configuration.target.topology);

/** The room of a group for targets besides its routes without a limiter. */
export type Room = { cpus: number; most: number };

/** Whether so many targets can be up at once, of which few are clusters on a small machine. */
export function fits(members: readonly Planned[], { cpus, most }: Room): boolean {
  const mostClusters = cpus < 8 ? CLUSTERS : GROUP_SIZE;
  return members.length <= most && members.filter(onCluster).length <= mostClusters;
}

/**
 * The groups of a round (M22): targets of equal load. Every group that has a member of a ranking
 * has its reference and the reference's copy. Where there are several routes without a limiter,
 * each has the one of its framework and the default one. Other controls stand beside the reference of
 * the largest ranking of their load. Who shares a group is drawn anew each round.
 * @param cpus of the machine
 */
export function groupsOf(
  rankings: readonly Ranking[],
  { shuffle }: Shuffler,
  cpus: number,
): Planned[][] {
  const loadOf = ({ members: [first] }: Ranking) => (first ? loadKey(first.configuration) : "");
  const groups = grouped(rankings, loadOf).flatMap((ofEqualLoad) => {
    const controls = shuffle(ofEqualLoad.flatMap(({ members }) => members.filter(isControl)));
    const ranked = ofEqualLoad.filter(({ members }) => !members.every(isControl));
    const [largest] = ranked.toSorted((a, b) => b.members.length - a.members.length);
    const partner = largest?.reference ?? largest?.members[0];
    if (!partner) return parts(controls, GROUP_SIZE);

    // A single route keeps no place in every group, which would cost a group more: the reference
    // stands between it and the members of other groups.
    const routePlaces = controls.filter(isRoute).length > 1 ? 2 : 0;
    const room = { cpus, most: GROUP_SIZE - routePlaces };
    const withoutControls = packed(ranked, shuffle, room);
    const { groups, unplaced } = withControls(withoutControls, controls, partner);
    if (unplaced.length === 0) return groups;

    // Groups of four and four take less than one of five, and one of two that is filled to five.
    const canShare =
      largest?.reference !== undefined &&
      withoutControls.every((group) => !group.includes(partner) || isWithin(largest, group));
    if (!canShare) return [...groups, ...furtherGroups(unplaced, partner)];
    const extended = { ...largest, members: [...largest.members, ...unplaced] };
    const shared = packed([...ranked.filter((r) => r !== largest), extended], shuffle, room);
    const placed = controls.filter((control) => !unplaced.includes(control));
    const again = withControls(shared, placed, partner);
    return [...again.groups, ...furtherGroups(again.unplaced, partner)];
  });
  return shuffle(groups.map((group) => shuffle(group)));
}

const isWithin = ({ members }: Ranking, group: readonly Planned[]): boolean =>
  group.every((member) => members.includes(member));

/** Groups of controls that have no room in one of their partner's. */
const furtherGroups = (controls: readonly Planned[], partner: Planned): Planned[][] =>
  parts(controls, GROUP_SIZE - 1).map((part) => [partner, ...part]);

/**
 * The groups with the controls, and the controls that have no room: routes where a member has their framework, others in one of their
 * partner's.
 */
function withControls(
  groups: readonly Planned[][],
  controls: readonly Planned[],
  partner: Planned,
): { groups: Planned[][]; unplaced: Planned[] } {
  const groupsWithRoutes = groups.map((group) => {
    const frameworks = [undefined, ...group.map(frameworkOf)];
    const routes = controls.filter(
      (control) => isRoute(control) && frameworks.includes(frameworkOf(control)),
    );
    return [...group, ...routes.slice(0, GROUP_SIZE - group.length)];
  });

  const unplaced: Planned[] = [];
  for (const control of controls) {
    if (groupsWithRoutes.some((group) => group.includes(control))) continue;
    const partnersGroup = groupsWithRoutes.find(
      (group) => group.includes(partner) && group.length < GROUP_SIZE,
    );
    if (partnersGroup) partnersGroup.push(control);
    else unplaced.push(control);
  }
  return { groups: groupsWithRoutes, unplaced };
}

const frameworkOf = ({ configuration }: Planned): string | undefined =>
  configuration.target.framework;

/** Whether a control is a route without a limiter, with which limiters and frameworks are compared. */
const isRoute = ({ configuration }: Planned): boolean =>
  configuration.target.decided_by === "nothing";

/** The rankings in as few groups as hold them, where linked rankings stay together. */
function packed(
  rankings: readonly Ranking[],
  shuffle: Shuffler["shuffle"],
  room: Room,
): Planned[][] {
  const rankingParts = shuffle(linked(rankings, room)).flatMap((linkedRankings) => {
    if (linkedRankings.length > 1) return [linkedRankings.flatMap(({ members }) => members)];
    return linkedRankings.flatMap((ranking) => partsOf(ranking, shuffle, room));
  });

  // Large parts come first, so that small ones fill the room that they leave.
  const groups: Planned[][] = [];
  for (const part of rankingParts.toSorted((a, b) => b.length - a.length)) {
    const group = groups.find((members) => fits([...members, ...part], room));
    if (group) group.push(...part);
    else groups.push([...part]);
  }
  return groups;
}

/** Rankings that the report compares with each other stay together where they fit whole. */
function linked(rankings: readonly Ranking[], room: Room): Ranking[][] {
  const chains: Ranking[][] = [];
  for (const ranking of rankings) {
    const chain = chains.find((candidate) => {
      const members = [...candidate, ranking].flatMap((member) => member.members);
      return candidate.some((member) => areLinked(member, ranking)) && fits(members, room);
    });
    if (chain) chain.push(ranking);
    else chains.push([ranking]);
  }
  return chains;
}

/**
 * A key that a client's rows on several stores and topologies share, also under its own script and
 * under the one for all clients.
 */
function nameKey({ configuration: { target } }: Planned): string {
  const { client, version, options } = parseTargetText(target.text);
  return canonicalJson({
    client,
    version,
    options: options.filter(({ id }) => id !== SAME_SCRIPT),
  });
}

const areLinked = (first: Ranking, second: Ranking): boolean =>
  first.members.some((member) =>
    second.members.some((partner) => nameKey(member) === nameKey(partner)),
  );

/** The parts of a ranking that fit into a group, each with the reference and its copy. */
function partsOf(
  { members, reference }: Ranking,
  shuffle: Shuffler["shuffle"],
  room: Room,
): Planned[][] {
  if (!reference) return members.map((member) => [member]);

  const always = members.filter(
    (member) => member === reference || isCopy(member.configuration.target),
  );
  const others = shuffle(members.filter((member) => !always.includes(member)));
  if (others.length === 0) return [always];

  // A part has one framework, because another one would bring its own route.
  const frameworks = new Set(others.map(frameworkOf));
  return [...frameworks].flatMap((framework) => {
    const candidates = others.filter((member) => frameworkOf(member) === framework);
    let size = 1;
    while (size < candidates.length && fits([...always, ...candidates.slice(0, size + 1)], room))
      size++;
    return parts(candidates, size).map((part) => [...always, ...part]);
  });
}

/** The members in as few parts of at most that size as possible, all about equally large. */
function parts(members: readonly Planned[], size: number): Planned[][] {
  const count = Math.ceil(members.length / size);
  return Array.from({ length: count }, (_, part) =>
    members.filter((_, index) => index % count === part),
  );
}
