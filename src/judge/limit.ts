import { isClientLayer } from "../contract/layers.js";
import type { MeasuredResult } from "../contract/result.js";
import { FOREIGN_CPU_PERCENT, type RoleResources } from "../contract/role-resources.js";
import { carriedByMachines, carriedLinks } from "./carried-links.js";
import { answeredRequests, loadedS } from "./counts.js";
import { type Evidence, rolesOf } from "./evidence.js";
import { busiestLoop, longestWait, STARVED_SHARE } from "./rules/generator.js";
import { windowIsSteady } from "./rules/steady-load.js";

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

/**
 * The load generators; at the limiter layer their workers are the client that is measured.
 */
function generatorCandidates({ generators, request }: Evidence): Candidate[] {
  const resource = isClientLayer(request.layer) ? ("client" as const) : ("generator" as const);
  return generators.flatMap((part) => {
    const name = generators.length === 1 ? `the ${resource}` : part.id;
    const used = busiestLoop(part);
    const waited = longestWait(part);
    const candidates = [{ resource, used, text: `${name}'s event loop was ${percent(used)} busy` }];
    if (waited >= STARVED_SHARE)
      candidates.push({ resource, used: 1, text: `${name} waited for a CPU ${percent(waited)}` });
    return candidates;
  });
}

const usedUp = (share: number): number => (share >= USED_UP ? 1 : share);

/**
 * How busy all CPUs of a machine were together. From `USED_UP` on they count as full, since
 * a busy event loop may be one that waited for a CPU.
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
    const ourShare = Math.max(0, busy_cpu_percent - foreign) / 100 / cpus_allowed;
    const ourText = `the ${cpus_allowed} of ${cpus} CPUs that we may use were ${percent(ourShare)} busy`;
    candidates.push({ resource: "host CPU", used: usedUp(ourShare), text: ourText });
  }

  return candidates;
}

/**
 * The CPUs of each of several machines. Machines that are one computer show the same
 * figure.
 */
const machineCpus = ({ machine_load = {} }: Pick<Evidence, "machine_load">): Candidate[] =>
  Object.entries(machine_load).flatMap(([name, load]) =>
    hostCpu({ host_load: load }).map((candidate) => ({
      ...candidate,
      text: candidate.text.replace("this machine's", `${name}'s`),
    })),
  );

/**
 * The event loops of the servers. Between the drained readings a loop is only active in the
 * window, because the pauses around it are idle.
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

function capped(resource: Limit["resource"], role: string, roleUsage: RoleResources): Candidate[] {
  const cap = roleUsage.caps?.cpus;
  if (cap === undefined) return [];

  const used = roleUsage.cpu_percent / 100 / cap;
  const { periods = 0, throttled_periods = 0 } = roleUsage.throttling ?? {};
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
  roleUsage: RoleResources,
  evidence: Pick<Evidence, "store">,
): Candidate[] {
  const threads = evidence.store?.command_threads ?? 1;
  const used = roleUsage.cpu_percent / 100 / threads;
  const text = `${role} used ${percent(used)} of ${threads === 1 ? "one core" : `its ${threads} threads`}`;
  return [{ resource: "store CPU", used, text }, ...capped("store CPU", role, roleUsage)];
}

/** A service runs on all cores of its cap, or else of the machine. */
function serviceCpu(
  role: string,
  roleUsage: RoleResources,
  { host_load }: Pick<Evidence, "host_load">,
): Candidate[] {
  if (roleUsage.caps?.cpus !== undefined) return capped("service CPU", role, roleUsage);
  if (!host_load) return [];

  const cpus = host_load.cpus_allowed ?? host_load.cpus;
  const used = roleUsage.cpu_percent / 100 / cpus;

  return [
    {
      resource: "service CPU",
      used,
      text: `${role} used ${percent(used)} of the ${cpus} CPUs that it may use`,
    },
  ];
}

/** The roles behind the servers that decide, which are services and stores. */
export const decidingRoles = (
  evidence: Pick<Evidence, "resources" | "host_load" | "store">,
): Candidate[] => [
  ...rolesOf(evidence, "service").flatMap(([role, roleUsage]) =>
    serviceCpu(role, roleUsage, evidence),
  ),
  ...rolesOf(evidence, "store").flatMap(([role, roleUsage]) =>
    storeNode(role, roleUsage, evidence),
  ),
];

/** The links of the generators' machines. A link has its full rate in each direction. */
function networkCandidates(evidence: Evidence): Candidate[] {
  return evidence.generators.flatMap(({ links = [] }) =>
    links.map(({ name, bits_per_second, received_bytes, sent_bytes }) => {
      const used = (8 * Math.max(received_bytes, sent_bytes)) / loadedS(evidence) / bits_per_second;
      const text = `link ${name} carried ${percent(used)} of its ${bits_per_second / 1e9} Gbit/s`;
      return { resource: "network" as const, used, text };
    }),
  );
}

/**
 * The links between machines. They are used up from `FULL` on, because many small packets
 * carry less than a few large ones.
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

function quotaCandidates({ counts, prediction }: Evidence): Candidate[] {
  const answered = answeredRequests(counts);
  if (
    answered === 0 ||
    prediction?.basis !== "limits" ||
    counts.allowed / answered >= ADMITTED_AT_LEAST
  )
    return [];
  const text = `${percent(counts.limited / answered)} of the requests met an exhausted quota`;
  return [{ resource: "quota", used: 1, text }];
}

/**
 * The resource that was used up, or used most. It is `none` for an open loop below
 * capacity, for too few connections, and where components wait for each other. The network only
 * counts where the rate of its links is known.
 */
export function limitOf(evidence: Evidence): Limit {
  if (windowIsSteady.check(evidence)?.severity === "suspect")
    return { resource: "none", text: "the window was not steady, so no limit is named" };

  const candidates = [
    ...quotaCandidates(evidence),
    ...hostCpu(evidence),
    ...machineCpus(evidence),
    ...generatorCandidates(evidence),
    ...networkCandidates(evidence),
    ...machineLinks(evidence, loadedS(evidence)),
    ...serverLoops(evidence),
    ...rolesOf(evidence, "server").flatMap(([role, used]) => capped("server CPU", role, used)),
    ...decidingRoles(evidence),
  ];
  const hasService = evidence.configuration?.target.decided_by === "service";
  return limitFrom(candidates, hasService ? ["the service may be able to decide more"] : []);
}

/**
 * The most used resource.
 * @param aboutService what a limit of the client says about a service behind it
 */
export function limitFrom(
  candidates: readonly Candidate[],
  aboutService: readonly string[] = [],
): Limit {
  const [first, ...lessUsed] = candidates.toSorted((a, b) => b.used - a.used);
  if (!first || first.used < USED_UP) {
    const text = first
      ? `nothing was used up; most of all, ${first.text}`
      : "nothing could be read";
    return { resource: "none", text };
  }

  const others = lessUsed.filter(
    ({ resource, used }) => used >= USED_UP && resource !== first.resource,
  );
  const texts = [first, ...others].map(({ text }) => text);
  if (first.resource === "client") texts.push(...aboutService);

  return { resource: first.resource, text: texts.join("; ") };
}
