import type { Configuration } from "../../contract/configuration.js";
import type { FaultAction } from "../../contract/fault-actions.js";
import { type Fault, faultKind } from "../../contract/fault-schemas.js";
import { faultText } from "../../contract/fault-text.js";
import { findNamedFault } from "../../contract/named-faults.js";
import type { PartFault, PartFaults } from "../../runtimes/runtime-types.js";
import { findStore, findTopology } from "../../targets/resolve.js";
import { findEngine } from "../../targets/stores/engines.js";
import { isCluster } from "../../targets/topologies.js";
import { findProfile } from "../../traffic/lookup.js";
import { roleCounts } from "./role-counts.js";

type Subject = Pick<
  Configuration,
  "target" | "servers" | "generators" | "external_store" | "layer"
>;

/** The fault of a part for each action. Other actions are carried out by the store itself. */
const partFaultOf: Partial<Record<FaultAction, PartFault>> = {
  kill: "kill",
  restart: "kill",
  pause: "pause",
  disconnect: "disconnect",
};

const numberOf = ({ role }: Fault): number | undefined => {
  const [number] = /\d+$/.exec(role) ?? [];
  return number === undefined ? undefined : Number(number);
};

const KINDS = {
  store: "store",
  service: "service between server and store",
  server: "server",
} as const;

function missingRole(fault: Fault, subject: Subject): string | undefined {
  const kind = faultKind(fault);
  if (kind === "store" && subject.external_store)
    return "the store is one that already runs: nothing is done to it";
  const count = roleCounts(subject)[kind];
  const least = findNamedFault(fault.name)?.servers ?? 1;
  if (kind === "server" && count > 0 && count < least)
    return `it takes ${least} servers or more: give --servers ${least}`;
  if (count === 0)
    return kind === "server"
      ? "there is no server at this layer"
      : `the target has no ${KINDS[kind]}`;
  const number = numberOf(fault) ?? 1;
  return number > count
    ? `there is no ${fault.role}: the run has ${count} of this kind`
    : undefined;
}

function wrongTopology(fault: Fault, { target }: Subject): string | undefined {
  const { action, name } = fault;
  const { primaries, replicas } = findTopology(target.topology);
  const isPrimary = (numberOf(fault) ?? 0) >= 1 && (numberOf(fault) ?? 0) <= primaries;
  if (action === "kill" || action === "failover") {
    if (replicas === 0)
      return "no replica can take over: give a target with replicas, e.g. iovalkey:cluster";
    if (!isPrimary) return `${action} is done to one primary, store-1 to store-${primaries}`;
  }
  if (name === "primary-pause" && !isCluster(target.topology))
    return "there is no cluster: store-pause is the same";
  // Nobody runs a cluster in production whose node comes back empty, as another node.
  if (action === "restart" && faultKind(fault) === "store" && isCluster(target.topology))
    return "a node of a cluster has lost its place in it when it comes back empty: use primary-kill";
  if (action === "delay" && primaries + replicas > 1)
    return "the nodes of a cluster tell clients their own addresses: nothing can stand between";
  return undefined;
}

/** Whether a relay between servers and store makes a cut that the runtime itself cannot make. */
const isCutByRelay = (
  fault: Fault,
  { topology }: Pick<Configuration["target"], "topology">,
  partFaults: PartFaults | undefined,
): boolean => {
  const { primaries, replicas } = findTopology(topology);
  const cuts =
    fault.action === "disconnect" && faultKind(fault) === "store" && primaries + replicas === 1;
  return cuts && partFaults !== undefined && partFaults.disconnect !== true;
};

/** Whether a run has a relay between its servers and the store, which stays for the whole run. */
export const needsRelay = (
  { faults = [], target }: Pick<Configuration, "faults" | "target">,
  partFaults: PartFaults | undefined,
): boolean =>
  faults.some((fault) => fault.action === "delay" || isCutByRelay(fault, target, partFaults));

/** Why the store, or the runtime, cannot carry out a fault; undefined where it can. */
function inabilityReason(
  fault: Fault,
  { target }: Subject,
  partFaults: PartFaults | undefined,
): string | undefined {
  const { action } = fault;
  // The relay, which is a program of our own, carries these out under every runtime.
  if (action === "delay" || isCutByRelay(fault, target, partFaults)) return undefined;
  const partFault = partFaultOf[action];
  if (partFault) {
    const ability = partFaults?.[partFault] ?? true;
    return ability === true ? undefined : ability;
  }

  const { engine } = findStore(target.store);
  const ability = findEngine(engine ?? "").faults[
    action as keyof ReturnType<typeof findEngine>["faults"]
  ];
  if (ability !== true) return ability;
  if (action === "flush-scripts" && (target.module ?? target.service) !== undefined)
    return `${target.module ?? target.service} runs no script`;
  return undefined;
}

/**
 * Why a fault cannot be done to a target in its topology, under this runtime; undefined where it
 * can.
 */
function reasonOf(
  fault: Fault,
  subject: Subject,
  partFaults: PartFaults | undefined,
): string | undefined {
  if (subject.target.program !== undefined)
    return "a load program makes the calls, and measures no window";
  return (
    missingRole(fault, subject) ??
    wrongTopology(fault, subject) ??
    inabilityReason(fault, subject, partFaults)
  );
}

/**
 * Why the faults of a configuration cannot be done, as the reason of a skip; undefined where all
 * can.
 */
export function unsupportedFaults(
  faults: readonly Fault[],
  subject: Subject,
  partFaults: PartFaults | undefined,
): string | undefined {
  for (const fault of faults) {
    const reason = reasonOf(fault, subject, partFaults);
    if (reason) return `${faultText(fault)}: ${reason}`;
  }
  return undefined;
}

export function notesOnSingleKeys(
  configurations: readonly Pick<Configuration, "faults" | "target" | "traffic">[],
): string[] {
  const withNodeFault = configurations.filter(
    ({ faults = [], target }) =>
      isCluster(target.topology) &&
      faults.some((fault) => faultKind(fault) === "store" && numberOf(fault) !== undefined),
  );
  const traffics = new Set(withNodeFault.map(({ traffic }) => traffic));
  return [...traffics]
    .filter((traffic) => findProfile(traffic).population().requests.length === 1)
    .map(
      (traffic) =>
        `the traffic ${traffic} has one key: a fault of one node of a cluster meets all requests or none; --traffic realistic has many keys`,
    );
}
