import { isClientLayer } from "../contract/layers.js";
import { FOREIGN_CPU_PERCENT, type MeasuredResult, type RoleResources } from "../contract/result.js";
import { answered, loadedS } from "./counts.js";
import type { Evidence } from "./evidence.js";
import { carriedByMachines, carriedLinks } from "./network.js";
import { busiestLoop, longestWait, STARVED } from "./rules/generator.js";
import { windowIsSteady } from "./rules/steadiness.js";

export type Limit = NonNullable<MeasuredResult["limited_by"]>;

/** From this share on a resource counts as used up: the rest may be time spent waiting for other resources. */
const USED_UP = 0.9;
/** With a smaller share of admitted requests the run measures rejections. */
const ADMITTED_AT_LEAST = 0.01;
/** From this share of its measured rate on, a link between machines is the limit. */
const FULL = 0.8;

interface Candidate {
  resource: Limit["resource"];
  used: number;
  text: string;
}

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
      ...(waited >= STARVED
        ? [{ resource, used: 1, text: `${name} waited for a CPU ${percent(waited)}` }]
        : []),
    ];
  });
}

/** All CPUs together; used up they count as full, since a busy event loop may be one that waited. */
export function hostCpu({ host_load }: Pick<Evidence, "host_load">): Candidate[] {
  if (!host_load) return [];
  const { cpus, busy_cpu_percent, foreign_cpu_percent: foreign } = host_load;
  const share = busy_cpu_percent / 100 / cpus;
  const others =
    foreign >= FOREIGN_CPU_PERCENT ? `, ${Math.round(foreign)} % of one CPU by other programs` : "";
  const text = `this machine's ${cpus} CPUs were ${percent(share)} busy${others}`;
  return [{ resource: "host CPU", used: share >= USED_UP ? 1 : share, text }];
}

/** The CPUs of each of several machines; those that are one computer show the same. */
const machineCpus = ({ machine_load = {} }: Pick<Evidence, "machine_load">): Candidate[] =>
  Object.entries(machine_load).flatMap(([name, load]) =>
    hostCpu({ host_load: load }).map((found) => ({
      ...found,
      text: found.text.replace("this machine's", `${name}'s`),
    })),
  );

/** Between the drained readings the loop is only active in the window: the pauses around it are idle. */
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
export function storeNode(role: string, own: RoleResources, evidence: Pick<Evidence, "store">): Candidate[] {
  const threads = evidence.store?.command_threads ?? 1;
  const used = own.cpu_percent / 100 / threads;
  const text = `${role} used ${percent(used)} of ${threads === 1 ? "one core" : `its ${threads} threads`}`;
  return [{ resource: "store CPU", used, text }, ...capped("store CPU", role, own)];
}

/** A service runs on as many cores as it may: those of its cap, else all of the machine. */
export function serviceCpu(
  role: string,
  own: RoleResources,
  { host_load }: Pick<Evidence, "host_load">,
): Candidate[] {
  if (own.caps?.cpus !== undefined) return capped("service CPU", role, own);
  if (!host_load) return [];
  const { cpus } = host_load;
  const used = own.cpu_percent / 100 / cpus;
  return [
    { resource: "service CPU", used, text: `${role} used ${percent(used)} of this machine's ${cpus} CPUs` },
  ];
}

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

/** The links between machines: used up from `FULL` on, as many small packets carry less than a few large. */
export function machineLinks(
  evidence: Pick<Evidence, "links" | "placement" | "resources" | "machine_load">,
  loaded_s: number,
): Candidate[] {
  const candidate = (name: string, share: number, bits_per_second: number): Candidate => ({
    resource: "network",
    used: share >= FULL ? Math.max(USED_UP, share) : share,
    text: `${name} carried ${percent(share)} of the ${rateText(bits_per_second)} measured before the campaign`,
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

const rateText = (bits: number): string =>
  bits >= 1e9 ? `${(bits / 1e9).toFixed(1)} Gbit/s` : `${Math.round(bits / 1e6)} Mbit/s`;

function quota({ counts, prediction }: Evidence): Candidate[] {
  const all = answered(counts);
  if (all === 0 || prediction?.basis !== "limits" || counts.allowed / all >= ADMITTED_AT_LEAST) return [];
  const text = `${percent(counts.limited / all)} of the requests met an exhausted quota`;
  return [{ resource: "quota", used: 1, text }];
}

/**
 * What was used up, or used most; `none` for an open loop below capacity, too few connections, or components that wait
 * for each other. The network only counts where the rate of its links is known.
 */
export function limitOf(evidence: Evidence): Limit {
  if (windowIsSteady.check(evidence)?.severity === "suspect")
    return { resource: "none", text: "the window was not steady, so no limit is named" };
  const roles = Object.entries(evidence.resources);
  const ofKind = (kind: RoleResources["kind"]) => roles.filter(([, resources]) => resources.kind === kind);
  return limitFrom(
    [
      ...quota(evidence),
      ...hostCpu(evidence),
      ...machineCpus(evidence),
      ...generator(evidence),
      ...network(evidence),
      ...machineLinks(evidence, loadedS(evidence)),
      ...serverLoops(evidence),
      ...ofKind("server").flatMap(([role, own]) => capped("server CPU", role, own)),
      ...ofKind("service").flatMap(([role, own]) => serviceCpu(role, own, evidence)),
      ...ofKind("store").flatMap(([role, own]) => storeNode(role, own, evidence)),
    ],
    evidence.configuration?.target.decided_by === "service" ? ["the service may be able to decide more"] : [],
  );
}

/** The most used resource. @param onService what a limit of the client says about a service behind it */
export function limitFrom(found: readonly Candidate[], onService: readonly string[] = []): Limit {
  const candidates = [...found].sort((a, b) => b.used - a.used);
  const [first] = candidates;
  if (!first || first.used < USED_UP) {
    const text = first ? `nothing was used up; most of all, ${first.text}` : "nothing could be read";
    return { resource: "none", text };
  }
  const others = candidates.filter(({ resource, used }) => used >= USED_UP && resource !== first.resource);
  const texts = [first, ...others].map(({ text }) => text);
  return {
    resource: first.resource,
    text: [...texts, ...(first.resource === "client" ? onService : [])].join("; "),
  };
}
