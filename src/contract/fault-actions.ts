import type { MeasuredKind } from "./role.js";

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

interface FaultActionProperties {
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
} as const satisfies Readonly<Record<string, FaultActionProperties>>;

/** How much longer a round trip to a slow store takes. */
export const DELAY_MS = 20;

export type FaultAction = keyof typeof faultActions;
export const faultActionIds = Object.keys(faultActions) as [FaultAction, ...FaultAction[]];

export const propertiesOfAction = (action: FaultAction): FaultActionProperties =>
  faultActions[action];
