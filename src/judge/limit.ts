import { isClientLayer } from "../contract/layers.js";
import type { RunLink } from "../contract/machines.js";
import type { MeasuredResult } from "../contract/result.js";
import type { MeasuredKind } from "../contract/role.js";
import { FOREIGN_CPU_PERCENT, type RoleResources } from "../contract/role-resources.js";
import { answeredRequests, loadedS } from "./counts.js";
import type { Evidence } from "./evidence.js";
import { busiestLoop, longestWait, STARVED_SHARE } from "./rules/generator.js";
import { windowIsSteady } from "./rules/steady-load.js";

/** In the order in which requests pass them: each talks to the next one that there is. */
export const PASSED: readonly MeasuredKind[] = ["generator", "server", "service", "store"];
/** Each talks to one other kind alone, so that its counters are those of that traffic. */
const AT_THE_ENDS: readonly MeasuredKind[] = ["generator", "store"];

/** A direction, and how much of its measured rate was carried. */
type Carried = { share: number; bits_per_second: number };

/**
 * The busier of two directions: the bytes that each carried, and its rate. Undefined where neither
 * carried any.
 */
function busier(
  directions: readonly { bytes: number; bits_per_second: number }[],
  loaded_s: number,
): Carried | undefined {
  const shareOf = (bytes: number, bits_per_second: number) =>
    (8 * bytes) / loaded_s / bits_per_second;
  const [first] = directions
    .map(({ bytes, bits_per_second: rate }) => ({
      share: shareOf(bytes, rate),
      bits_per_second: rate,
    }))
    .sort((a, b) => b.share - a.share);
  return first && first.share > 0 ? first : undefined;
}

type Placed = Pick<MeasuredResult, "links" | "placement" | "resources">;
type Traffic = NonNullable<RoleResources["network"]>;

type End = { machine: string; network: Traffic };

/**
 * A role's traffic is divided evenly among its peers; what cluster nodes say to each other counts
 * with the rest.
 * @param loaded_s seconds in which bytes were counted @returns nothing for links on which none are
 *   known
 */
export function carriedLinks(
  { links = [], placement = {}, resources }: Placed,
  loaded_s: number,
): (Carried & Pick<RunLink, "between">)[] {
  const of = (kind: MeasuredKind) => rolesOf({ resources }, kind);
  const present = PASSED.filter((kind) => of(kind).length > 0);
  const pairs = present.slice(1).flatMap((second, index) => {
    const first = present[index] as MeasuredKind;
    const measured = [first, second].find(
      (kind) => AT_THE_ENDS.includes(kind) && of(kind).every(([, { network }]) => network),
    );
    if (!measured) return [];

    const ends = of(measured).flatMap(([role, { network }]): End[] => {
      const machine = placement[role];
      return network && machine !== undefined ? [{ machine, network }] : [];
    });
    const peers = of(measured === first ? second : first).map(([role]) => placement[role]);
    return [{ ends, peers }];
  });

  return links.flatMap(({ between: [one, other], bits_per_second }) => {
    if (!bits_per_second) return [];

    const carried = { there: 0, back: 0 };

    for (const { ends, peers } of pairs)
      for (const { machine, network } of ends) {
        const shareOn = (name: string) =>
          peers.filter((peer) => peer === name).length / peers.length;
        if (machine === one) {
          carried.there += network.sent_bytes * shareOn(other);
          carried.back += network.received_bytes * shareOn(other);
        } else if (machine === other) {
          carried.there += network.received_bytes * shareOn(one);
          carried.back += network.sent_bytes * shareOn(one);
        }
      }

    const ways = (["there", "back"] as const).map((way) => ({
      bytes: carried[way],
      bits_per_second: bits_per_second[way],
    }));
    const found = busier(ways, loaded_s);

    return found ? [{ between: [one, other] as RunLink["between"], ...found }] : [];
  });
}

/** The share of its best link that each machine carried: where roles share its network, in all. */
function carriedByMachines(
  { links = [], machine_load = {} }: Pick<MeasuredResult, "links" | "machine_load">,
  loaded_s: number,
): (Carried & { name: string })[] {
  return Object.entries(machine_load).flatMap(([name, { network }]) => {
    const rates = links.flatMap(({ between: [one, other], bits_per_second }) => {
      if (!bits_per_second) return [];
      const { there, back } = bits_per_second;
      if (name === one) return [{ sends: there, receives: back }];
      return name === other ? [{ sends: back, receives: there }] : [];
    });
    if (!network || rates.length === 0) return [];

    const ways = [
      { bytes: network.sent_bytes, bits_per_second: Math.max(...rates.map(({ sends }) => sends)) },
      {
        bytes: network.received_bytes,
        bits_per_second: Math.max(...rates.map(({ receives }) => receives)),
      },
    ];
    const found = busier(ways, loaded_s);

    return found ? [{ name, ...found }] : [];
  });
}

export type Limit = NonNullable<MeasuredResult["limited_by"]>;

/**
 * From this share on a resource counts as used up: the rest may be time spent waiting for other
 * resources.
 */
const USED_UP = 0.9;
/** With a smaller share of admitted requests the run measures rejections. */
const ADMITTED_AT_LEAST = 0.01;
/** From this share of its measured rate on, a link between machines is the limit. */
const FULL = 0.8;

type Candidate = { resource: Limit["resource"]; used: number; text: string };

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** The load generators; at the limiter layer their workers are the client that is measured. */
function generator({ generators, request }: Evidence): Candidate[] {
  const resource = isClientLayer(request.layer) ? ("client" as const) : ("generator" as const);
  return generators.flatMap((part) => {
    const name = generators.length === 1 ? `the ${resource}` : part.id;
    const used = busiestLoop(part);
    const waited = longestWait(part);
    return [
      { resource, used, text: `${name}'s event loop was ${percent(used)} busy` },
      ...(waited >= STARVED_SHARE
        ? [{ resource, used: 1, text: `${name} waited for a CPU ${percent(waited)}` }]
        : []),
    ];
  });
}

const usedUp = (share: number): number => (share >= USED_UP ? 1 : share);

/**
 * All CPUs together; used up they count as full, since a busy event loop may be one that waited.
 */
export function hostCpu({ host_load }: Pick<Evidence, "host_load">): Candidate[] {
  if (!host_load) return [];

  const { cpus, cpus_allowed, busy_cpu_percent, foreign_cpu_percent: foreign } = host_load;
  const share = busy_cpu_percent / 100 / cpus;
  const others =
    foreign >= FOREIGN_CPU_PERCENT ? `, ${Math.round(foreign)} % of one CPU by other programs` : "";
  const text = `this machine's ${cpus} CPUs were ${percent(share)} busy${others}`;
  const candidates: Candidate[] = [{ resource: "host CPU", used: usedUp(share), text }];
  if (cpus_allowed !== undefined) {
    // The others may run on the CPUs that we must leave free: only our own use tells.
    const own = Math.max(0, busy_cpu_percent - foreign) / 100 / cpus_allowed;
    const allowed = `the ${cpus_allowed} of ${cpus} CPUs that we may use were ${percent(own)} busy`;
    candidates.push({ resource: "host CPU", used: usedUp(own), text: allowed });
  }

  return candidates;
}

/** The CPUs of each of several machines; those that are one computer show the same. */
const machineCpus = ({ machine_load = {} }: Pick<Evidence, "machine_load">): Candidate[] =>
  Object.entries(machine_load).flatMap(([name, load]) =>
    hostCpu({ host_load: load }).map((found) => ({
      ...found,
      text: found.text.replace("this machine's", `${name}'s`),
    })),
  );

/**
 * Between the drained readings the loop is only active in the window: the pauses around it are
 * idle.
 */
function serverLoops(evidence: Evidence): Candidate[] {
  const { consumers, resources, configuration } = evidence;
  // A server is the client of its service: what it can send is not what the service can decide.
  const isClient = configuration?.target.decided_by === "service";
  const servers = consumers.filter(({ id }) => resources[id]?.kind === "server");

  return servers.map(({ id, at_window_open, at_end }) => {
    const active_ms = at_end.event_loop_active_ms - at_window_open.event_loop_active_ms;
    const used = Math.min(1, Math.max(0, active_ms) / 1000 / loadedS(evidence));
    const name = servers.length === 1 ? "the server" : id;
    const text = `${name}'s event loop was ${percent(used)} busy`;
    return { resource: isClient ? "client" : "server loop", used, text };
  });
}

function capped(resource: Limit["resource"], role: string, own: RoleResources): Candidate[] {
  const cap = own.caps?.cpus;
  if (cap === undefined) return [];

  const used = own.cpu_percent / 100 / cap;
  const { periods = 0, throttled_periods = 0 } = own.throttling ?? {};
  const throttled = periods > 0 ? throttled_periods / periods : 0;

  return [
    { resource, used, text: `${role} used ${percent(used)} of its ${cap} CPUs` },
    {
      resource,
      used: throttled,
      text: `${role} was throttled by its CPU cap in ${percent(throttled)} of the periods`,
    },
  ];
}

/** A store node that executes commands on one thread can use one core at most, whatever its cap. */
function storeNode(
  role: string,
  own: RoleResources,
  evidence: Pick<Evidence, "store">,
): Candidate[] {
  const threads = evidence.store?.command_threads ?? 1;
  const used = own.cpu_percent / 100 / threads;
  const text = `${role} used ${percent(used)} of ${threads === 1 ? "one core" : `its ${threads} threads`}`;
  return [{ resource: "store CPU", used, text }, ...capped("store CPU", role, own)];
}

/** A service runs on as many cores as it may: those of its cap, else all of the machine. */
function serviceCpu(
  role: string,
  own: RoleResources,
  { host_load }: Pick<Evidence, "host_load">,
): Candidate[] {
  if (own.caps?.cpus !== undefined) return capped("service CPU", role, own);
  if (!host_load) return [];

  const cpus = host_load.cpus_allowed ?? host_load.cpus;
  const used = own.cpu_percent / 100 / cpus;

  return [
    {
      resource: "service CPU",
      used,
      text: `${role} used ${percent(used)} of the ${cpus} CPUs that it may use`,
    },
  ];
}

export const rolesOf = ({ resources }: Pick<Evidence, "resources">, kind: MeasuredKind) =>
  Object.entries(resources).filter(([, own]) => own.kind === kind);

/** What decides behind the servers. */
export const decidingRoles = (
  evidence: Pick<Evidence, "resources" | "host_load" | "store">,
): Candidate[] => [
  ...rolesOf(evidence, "service").flatMap(([role, own]) => serviceCpu(role, own, evidence)),
  ...rolesOf(evidence, "store").flatMap(([role, own]) => storeNode(role, own, evidence)),
];

/** A link has its full rate in each direction. */
function network(evidence: Evidence): Candidate[] {
  return evidence.generators.flatMap(({ links = [] }) =>
    links.map(({ name, bits_per_second, received_bytes, sent_bytes }) => {
      const used = (8 * Math.max(received_bytes, sent_bytes)) / loadedS(evidence) / bits_per_second;
      const text = `link ${name} carried ${percent(used)} of its ${bits_per_second / 1e9} Gbit/s`;
      return { resource: "network" as const, used, text };
    }),
  );
}

/**
 * The links between machines: used up from `FULL` on, as many small packets carry less than a few
 * large.
 */
export function machineLinks(
  evidence: Pick<Evidence, "links" | "placement" | "resources" | "machine_load">,
  loaded_s: number,
): Candidate[] {
  const candidate = (name: string, share: number, bits_per_second: number): Candidate => ({
    resource: "network",
    used: share >= FULL ? Math.max(USED_UP, share) : share,
    text: `${name} carried ${percent(share)} of the ${bitRateText(bits_per_second)} measured before the campaign`,
  });
  return [
    ...carriedLinks(evidence, loaded_s).map(({ between, share, bits_per_second }) =>
      candidate(`the link ${between.join(" ⇄ ")}`, share, bits_per_second),
    ),
    ...carriedByMachines(evidence, loaded_s).map(({ name, share, bits_per_second }) =>
      candidate(`${name}'s network`, share, bits_per_second),
    ),
  ];
}

export const bitRateText = (bits: number): string =>
  bits >= 1e9 ? `${(bits / 1e9).toFixed(1)} Gbit/s` : `${Math.round(bits / 1e6)} Mbit/s`;

function quota({ counts, prediction }: Evidence): Candidate[] {
  const all = answeredRequests(counts);
  if (all === 0 || prediction?.basis !== "limits" || counts.allowed / all >= ADMITTED_AT_LEAST)
    return [];
  const text = `${percent(counts.limited / all)} of the requests met an exhausted quota`;
  return [{ resource: "quota", used: 1, text }];
}

/**
 * What was used up, or used most; `none` for an open loop below capacity, too few connections, or
 * components that wait for each other. The network only counts where the rate of its links is
 * known.
 */
export function limitOf(evidence: Evidence): Limit {
  if (windowIsSteady.check(evidence)?.severity === "suspect")
    return { resource: "none", text: "the window was not steady, so no limit is named" };
  return limitFrom(
    [
      ...quota(evidence),
      ...hostCpu(evidence),
      ...machineCpus(evidence),
      ...generator(evidence),
      ...network(evidence),
      ...machineLinks(evidence, loadedS(evidence)),
      ...serverLoops(evidence),
      ...rolesOf(evidence, "server").flatMap(([role, own]) => capped("server CPU", role, own)),
      ...decidingRoles(evidence),
    ],
    evidence.configuration?.target.decided_by === "service"
      ? ["the service may be able to decide more"]
      : [],
  );
}

/**
 * The most used resource. @param onService what a limit of the client says about a service behind
 * it
 */
export function limitFrom(found: readonly Candidate[], onService: readonly string[] = []): Limit {
  const candidates = [...found].sort((a, b) => b.used - a.used);
  const [first] = candidates;
  if (!first || first.used < USED_UP) {
    const text = first
      ? `nothing was used up; most of all, ${first.text}`
      : "nothing could be read";
    return { resource: "none", text };
  }

  const others = candidates.filter(
    ({ resource, used }) => used >= USED_UP && resource !== first.resource,
  );
  const texts = [first, ...others].map(({ text }) => text);

  return {
    resource: first.resource,
    text: [...texts, ...(first.resource === "client" ? onService : [])].join("; "),
  };
}
