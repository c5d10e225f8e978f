import {
  decimalNumber,
  type Environment,
  formatNodes,
  type Node,
  nodesText,
  parseNodes,
  readEnv,
} from "./env.js";
import { usageError } from "./errors.js";
import { type StoreAccess, storeAddressFrom } from "./store-url.js";
import { idSchema } from "./target.js";

/** What the probe can be asked to do; several are done in the order given. */
export const probeActions = ["discover", "form", "ready", "reset", "read", "settings"] as const;
export type ProbeAction = (typeof probeActions)[number];

const shape = {
  PROBE_NODES: nodesText.optional(),
  PROBE_STORE: idSchema.optional(),
  PROBE_TOPOLOGY: idSchema.optional(),
  PROBE_TIMEOUT: decimalNumber(0.1, 600).optional(),
};

/** Which store the probe looks at; nodes are in role order, primaries first. */
export interface ProbeEnv {
  nodes: Node[];
  store: string;
  topology: string;
  timeoutS: number;
  /** For a store that somebody else runs: STORE_URL, which also is the node where PROBE_NODES is not set. */
  access: StoreAccess;
}

/** @throws usageError naming the variable that is wrong or missing */
export function decodeProbeEnv(env: Environment): ProbeEnv {
  const read = readEnv(shape, env);
  const address = storeAddressFrom(env);
  if (!read.PROBE_NODES && !address) {
    throw usageError("PROBE_NODES is not set: give host:port of each store node");
  }
  return {
    nodes: read.PROBE_NODES
      ? parseNodes(read.PROBE_NODES)
      : address
        ? [{ host: address.host, port: address.port }]
        : [],
    store: read.PROBE_STORE ?? "valkey",
    topology: read.PROBE_TOPOLOGY ?? "standalone",
    timeoutS: Number(read.PROBE_TIMEOUT ?? 60),
    access: address?.access ?? {},
  };
}

/** Access travels as STORE_URL, which the caller adds. */
export function encodeProbeEnv(probe: Omit<ProbeEnv, "access">): Record<string, string> {
  return {
    ...(probe.nodes.length > 0 ? { PROBE_NODES: formatNodes(probe.nodes) } : {}),
    PROBE_STORE: probe.store,
    PROBE_TOPOLOGY: probe.topology,
    PROBE_TIMEOUT: String(probe.timeoutS),
  };
}
