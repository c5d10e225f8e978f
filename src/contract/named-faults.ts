import { DELAY_MS, type FaultAction, faultActions } from "./fault-actions.js";

export interface NamedFault {
  id: string;
  /** Completes the question “What happens to your API when …”. */
  happens: string;
  summary: string;
  action: FaultAction;
  /** The role, or the kind all of whose roles are affected. */
  role: string;
  length_s?: number;
  /** The least seconds of the window after the fault. It defaults to `SETTLES_S`. */
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

export const findNamedFault = (name: string | undefined): NamedFault | undefined =>
  namedFaults.find(({ id }) => id === name);
