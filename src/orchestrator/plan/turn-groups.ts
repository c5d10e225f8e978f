import { type Configuration, canonicalJson } from "../../contract/configuration.js";
import { countIn, USUAL } from "../../contract/dimensions.js";
import { isProgramLayer } from "../../contract/layers.js";
import { parseTargetText } from "../../contract/target.js";
import { isCopy, SAME_SCRIPT } from "../../targets/options.js";
import { isCluster } from "../../targets/topologies.js";
import { findProfile } from "../../traffic/lookup.js";
import type { Shuffler } from "../../traffic/shuffle.js";
import type { Request } from "../request/request.js";
import { grouped, isControl, type Planned, type Ranking } from "./rankings.js";

/** Targets that are up at once and have the load by turns, at most (M16). */
export const GROUP_SIZE = 5;
/** Of them on clusters, which start six nodes for each target, on fewer than 8 CPUs. */
export const CLUSTERS = 3;

/** Why a campaign cannot go by turns; undefined where it can. */
export function reasonAgainstTurns(
  request: Pick<Request, "diagnose" | "access" | "caps" | "storeAccess" | "objectives">,
  configurations: readonly Configuration[],
): string | undefined {
  if (configurations.length === 1) return "one target has the load alone";
  if (request.objectives) return "the search for the highest rate plans its own trials";
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
  if (isProgramLayer(layer) || target.program !== undefined)
    return "a foreign program makes the load";
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

const onCluster = ({ configuration }: Planned): boolean => isCluster(configuration.target.topology);

/** What a group has room for beside the routes without a limiter. */
type Room = { cpus: number; most: number };

const fits = (members: readonly Planned[], { cpus, most }: Room): boolean =>
  members.length <= most && members.filter(onCluster).length <= (cpus < 8 ? CLUSTERS : GROUP_SIZE);

/**
 * The groups of a round (M22): targets of equal load. Every group that has a member of a ranking
 * has its reference and the reference's copy. Where there are several routes without a limiter,
 * each has the one of its framework and the usual one. Other controls stand beside the reference of
 * the largest ranking of their load. Who shares a group is drawn anew each round.
 * @param cpus of the machine
 */
export function groupsOf(
  rankings: readonly Ranking[],
  { shuffle }: Shuffler,
  cpus: number,
): Planned[][] {
  const loadOf = ({ members: [first] }: Ranking) => (first ? loadKey(first.configuration) : "");
  const groups = grouped(rankings, loadOf).flatMap((equal) => {
    const controls = shuffle(equal.flatMap(({ members }) => members.filter(isControl)));
    const ranked = equal.filter(({ members }) => !members.every(isControl));
    const largest = ranked.toSorted((a, b) => b.members.length - a.members.length)[0];
    const partner = largest?.reference ?? largest?.members[0];
    if (!partner) return parts(controls, GROUP_SIZE);
    // A single one has the reference between it and what is in another group: its place would cost
    // a group more.
    const routes = controls.filter(isRoute).length > 1 ? 2 : 0;
    return withControls(
      packed(ranked, shuffle, { cpus, most: GROUP_SIZE - routes }),
      controls,
      partner,
    );
  });
  return shuffle(groups.map((group) => shuffle(group)));
}

/**
 * The groups with the controls: routes where a member has their framework, others in one of their
 * partner's.
 */
function withControls(
  groups: readonly Planned[][],
  controls: readonly Planned[],
  partner: Planned,
): Planned[][] {
  const found = groups.map((group) => {
    const frameworks = [undefined, ...group.map(frameworkOf)];
    const routes = controls.filter(
      (each) => isRoute(each) && frameworks.includes(frameworkOf(each)),
    );
    return [...group, ...routes.slice(0, GROUP_SIZE - group.length)];
  });
  const left = controls.filter((control) => {
    if (found.some((each) => each.includes(control))) return false;
    const group = found.find((each) => each.includes(partner) && each.length < GROUP_SIZE);
    group?.push(control);
    return !group;
  });
  return [...found, ...parts(left, GROUP_SIZE - 1).map((part) => [partner, ...part])];
}

const frameworkOf = ({ configuration }: Planned): string | undefined =>
  configuration.target.framework;

/**
 * A route without a limiter: what a limiter costs over it, and a framework, are comparisons, too.
 */
const isRoute = ({ configuration }: Planned): boolean =>
  configuration.target.decided_by === "nothing";

function packed(
  rankings: readonly Ranking[],
  shuffle: Shuffler["shuffle"],
  room: Room,
): Planned[][] {
  const groups: Planned[][] = [];
  const all = shuffle(linked(rankings, room)).flatMap((together) =>
    together.length > 1
      ? [together.flatMap(({ members }) => members)]
      : together.flatMap((ranking) => partsOf(ranking, shuffle, room)),
  );
  // Large parts first: those that fit whole fill the groups that are left.
  for (const part of all.toSorted((a, b) => b.length - a.length)) {
    const group = groups.find((each) => fits([...each, ...part], room));
    if (group) group.push(...part);
    else groups.push([...part]);
  }
  return groups;
}

/** Rankings that the report compares with each other stay together where they fit whole. */
function linked(rankings: readonly Ranking[], room: Room): Ranking[][] {
  const found: Ranking[][] = [];
  for (const ranking of rankings) {
    const other = found.find(
      (each) =>
        each.some((one) => areLinked(one, ranking)) &&
        fits(
          [...each, ranking].flatMap(({ members }) => members),
          room,
        ),
    );
    if (other) other.push(ranking);
    else found.push([ranking]);
  }
  return found;
}

/**
 * What a client's rows on several stores and topologies, and under its own script and the one for
 * all, share.
 */
function nameKey({ configuration: { target } }: Planned): string {
  const { client, version, options } = parseTargetText(target.text);
  return canonicalJson({
    client,
    version,
    options: options.filter(({ id }) => id !== SAME_SCRIPT),
  });
}

const areLinked = (one: Ranking, other: Ranking): boolean =>
  one.members.some((each) => other.members.some((partner) => nameKey(each) === nameKey(partner)));

function partsOf(
  { members, reference }: Ranking,
  shuffle: Shuffler["shuffle"],
  room: Room,
): Planned[][] {
  if (!reference) return members.map((each) => [each]);
  const always = members.filter((each) => each === reference || isCopy(each.configuration.target));
  const others = shuffle(members.filter((each) => !always.includes(each)));
  if (others.length === 0) return [always];
  // Of one framework each: another one would bring its own route.
  return [...new Set(others.map(frameworkOf))].flatMap((framework) => {
    const own = others.filter((each) => frameworkOf(each) === framework);
    let size = 1;
    while (size < own.length && fits([...always, ...own.slice(0, size + 1)], room)) size++;
    return parts(own, size).map((part) => [...always, ...part]);
  });
}

function parts(members: readonly Planned[], size: number): Planned[][] {
  const count = Math.ceil(members.length / size);
  return Array.from({ length: count }, (_, part) =>
    members.filter((_, index) => index % count === part),
  );
}
