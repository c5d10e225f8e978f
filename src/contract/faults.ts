import { z } from "zod";
import type { MeasuredKind } from "./role.js";
import { idSchema } from "./target.js";

/** What a fault may change besides failing requests. A rule does not judge what it explains. */
export type FaultEffect =
  /** Processes of its roles end, and may begin anew with counters of 0. */
  | "ends"
  /** Calls under way may be lost, or sent again, so that the counts of both sides differ. */
  | "cuts"
  /** The counts of keys may be lost, so that quotas begin anew. */
  | "forgets"
  /** Scripts are loaded again. */
  | "unloads";

/** The kinds of roles to which something can be done. */
export const faultKinds = ["store", "service", "server"] as const satisfies readonly MeasuredKind[];
export type FaultKind = (typeof faultKinds)[number];

interface FaultActionFacts {
  /** What a role does, in words: `the store restarts`. */
  verb: string;
  kinds: readonly FaultKind[];
  /**
   * How long it lasts by default. It is absent where a fault happens at one moment, or lasts to the
   * end.
   */
  length_s?: number;
  effects: readonly FaultEffect[];
}

/**
 * What can be done to roles in the window. `orchestrator/run/injected-faults.ts` carries it out.
 */
export const faultActions = {
  kill: { verb: "dies", kinds: ["store"], effects: ["ends", "cuts", "forgets", "unloads"] },
  /** The role is killed, is down for the length, and is started again at the same address. */
  restart: {
    verb: "restarts",
    kinds: ["store", "service", "server"],
    length_s: 1,
    effects: ["ends", "cuts", "forgets", "unloads"],
  },
  /** The role is stopped by a signal, or frozen, and continued. */
  pause: {
    verb: "stops for a while",
    kinds: ["store", "service", "server"],
    length_s: 2,
    effects: ["cuts"],
  },
  /** The role is cut from the network. Packets are dropped, and connections survive. */
  disconnect: { verb: "is cut off", kinds: ["store", "service"], length_s: 3, effects: ["cuts"] },
  failover: {
    verb: "hands over to its replica",
    kinds: ["store"],
    effects: ["cuts", "forgets", "unloads"],
  },
  "flush-scripts": { verb: "forgets its scripts", kinds: ["store"], effects: ["unloads"] },
  "flush-keys": { verb: "forgets its keys", kinds: ["store"], effects: ["forgets"] },
  /**
   * Each round trip to the store takes `DELAY_MS` longer. A relay stands between for the whole run.
   */
  delay: { verb: "is slow", kinds: ["store"], length_s: 5, effects: [] },
  /** The store may use no more memory than it does, and refuses writes. */
  "fill-memory": { verb: "has no memory left", kinds: ["store"], length_s: 2, effects: [] },
} as const satisfies Readonly<Record<string, FaultActionFacts>>;

/** How much longer a round trip to a slow store takes. */
export const DELAY_MS = 20;

export type FaultAction = keyof typeof faultActions;
export const faultActionIds = Object.keys(faultActions) as [FaultAction, ...FaultAction[]];

export const factsOfAction = (action: FaultAction): FaultActionFacts => faultActions[action];

export interface NamedFault {
  id: string;
  /** Completes the question “What happens to your API when …”. */
  happens: string;
  summary: string;
  action: FaultAction;
  /** The role, or the kind all of whose roles are affected. */
  role: string;
  length_s?: number;
  /** The least seconds of the window after the fault, by default `SETTLES_S`. */
  settles_s?: number;
  /** How many servers the fault needs at least. */
  servers?: number;
}

/** How long one of several servers is down. */
const ONE_SERVER_DOWN_S = 3;

export const namedFaults: readonly NamedFault[] = [
  {
    id: "store-restart",
    happens: "the store restarts",
    summary: `the store is killed and starts again after ${faultActions.restart.length_s} s, empty`,
    action: "restart",
    role: "store",
  },
  {
    id: "store-pause",
    happens: "the store stops for a while",
    summary: `the store stops for ${faultActions.pause.length_s} s`,
    action: "pause",
    role: "store",
  },
  {
    id: "primary-kill",
    happens: "a primary of the cluster dies",
    summary: "cluster: a primary is killed and stays down; its replica takes over",
    action: "kill",
    role: "store-1",
    settles_s: 20,
  },
  {
    id: "primary-pause",
    happens: "a primary of the cluster stops for a while",
    summary: `cluster: a primary stops for ${faultActions.pause.length_s} s`,
    action: "pause",
    role: "store-1",
  },
  {
    id: "manual-failover",
    happens: "a replica takes over from its primary",
    summary: "cluster: a replica takes over from its primary, by CLUSTER FAILOVER",
    action: "failover",
    role: "store-1",
  },
  {
    id: "partition",
    happens: "the servers are cut off from the store",
    summary: `the servers are cut from the store for ${faultActions.disconnect.length_s} s`,
    action: "disconnect",
    role: "store",
  },
  {
    id: "slow-store",
    happens: "the store is slow",
    summary: `each round trip to the store takes ${DELAY_MS} ms longer for ${faultActions.delay.length_s} s, by a relay in the path of the whole run`,
    action: "delay",
    role: "store",
  },
  {
    id: "script-flush",
    happens: "the store forgets its scripts",
    summary: "the store forgets all scripts and functions",
    action: "flush-scripts",
    role: "store",
  },
  {
    id: "memory-full",
    happens: "the store’s memory is full",
    summary: `the store's memory is full for ${faultActions["fill-memory"].length_s} s: it refuses writes`,
    action: "fill-memory",
    role: "store",
  },
  {
    id: "server-restart",
    happens: "the servers restart",
    summary: `every server is killed and starts again after ${faultActions.restart.length_s} s`,
    action: "restart",
    role: "server",
  },
  {
    id: "one-of-n-servers",
    happens: "one of several servers restarts",
    summary: `one of several servers is killed and starts again after ${ONE_SERVER_DOWN_S} s (--servers 2 or more)`,
    action: "restart",
    role: "server-1",
    length_s: ONE_SERVER_DOWN_S,
    servers: 2,
  },
  {
    id: "thundering-herd",
    happens: "all windows start at once",
    summary: "all keys are flushed, so that all windows start at once",
    action: "flush-keys",
    role: "store",
  },
];

/** The default start of a fault. Before it lies the baseline by which recovery is judged. */
export const FAULT_START_S = 10;
/** The least seconds of the window after a fault with default times. */
export const SETTLES_S = 10;
/** The least seconds before a fault whose times the user sets. */
export const LEAST_BASELINE_S = 3;
/** The least seconds after a fault whose times the user sets. */
export const LEAST_SETTLING_S = 3;

const seconds = z.number().min(0).max(86_400);

/** Something done to a role at a time in the window. Seconds count from the window's opening. */
export const faultSchema = z.strictObject({
  /** The name is absent for a fault that was written as action and role. */
  name: idSchema.optional(),
  action: z.enum(faultActionIds),
  /** A role such as `store-1`, or a kind such as `store` for all of its roles. */
  role: z.string().regex(new RegExp(`^(${faultKinds.join("|")})(-\\d{1,2})?$`)),
  start_s: seconds,
  /** The length is absent where a fault happens at one moment, or lasts to the end. */
  length_s: seconds.optional(),
});
export type Fault = z.infer<typeof faultSchema>;

export const faultRecordSchema = z.strictObject({
  name: idSchema.optional(),
  action: z.enum(faultActionIds),
  roles: z.array(z.string()),
  /** The planned times. A fault of a moment has a length of 0. */
  planned: z.strictObject({ start_s: seconds, length_s: seconds }),
  /**
   * The time from before the first step of the fault to the end of its undoing. It is absent where
   * the run ended before it.
   */
  injected: z.strictObject({ from_s: z.number(), to_s: z.number() }).optional(),
  undone: z.boolean(),
  note: z.string().optional(),
  /**
   * Connections that the store accepted after the first reading of its counters, without those of
   * the harness. Those between the nodes of a cluster count. It is absent where the store does not
   * report it, and where a run has several faults.
   */
  store_reconnections: z.int().min(0).optional(),
});
export type FaultRecord = z.infer<typeof faultRecordSchema>;

export const findNamedFault = (name: string | undefined): NamedFault | undefined =>
  namedFaults.find(({ id }) => id === name);

export const faultKind = ({ role }: Pick<Fault, "role">): FaultKind =>
  role.replace(/-\d+$/, "") as FaultKind;

/** How long a fault lasts by default. */
export const defaultLengthS = ({
  name,
  action,
}: Pick<Fault, "name" | "action">): number | undefined =>
  findNamedFault(name)?.length_s ?? factsOfAction(action).length_s;

/** A fault as flags name it, e.g. `store-restart` or `pause:store-1@5s+2s`. */
export function faultText(fault: Fault): string {
  const { name, action, role, start_s, length_s } = fault;
  const hasDefaultTimes = start_s === FAULT_START_S && length_s === defaultLengthS(fault);
  if (name !== undefined && hasDefaultTimes) return name;

  const length = length_s === undefined ? "" : `+${length_s}s`;
  return `${name ?? `${action}:${role}`}@${start_s}s${length}`;
}

export const FAULT_SEPARATOR = "/";

/** Faults as flags name them, e.g. `pause:store-1@5s+2s/pause:store-2@12s+2s`. */
export const faultsText = (faults: readonly Fault[]): string =>
  faults.map(faultText).join(FAULT_SEPARATOR);

export const faultsFileName = (faults: readonly Fault[]): string =>
  faultsText(faults).replaceAll(/[:@+/]/g, "-");

/**
 * The end of a fault. A fault that lasts to the end of the window counts as ending at its start.
 */
export const faultEndS = ({ start_s, length_s = 0 }: Fault): number => start_s + length_s;
