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
import { idSchema } from "./target.js";

/** What the probe can be asked to do; several are done in the order given. */
export const probeActions = ["form", "ready", "reset", "read", "settings"] as const;
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
}

/** @throws usageError naming the variable that is wrong or missing */
export function decodeProbeEnv(env: Environment): ProbeEnv {
  const read = readEnv(shape, env);
  if (!read.PROBE_NODES) throw usageError("PROBE_NODES is not set: give host:port of each store node");
  return {
    nodes: parseNodes(read.PROBE_NODES),
    store: read.PROBE_STORE ?? "valkey",
    topology: read.PROBE_TOPOLOGY ?? "standalone",
    timeoutS: Number(read.PROBE_TIMEOUT ?? 60),
  };
}

export function encodeProbeEnv(probe: ProbeEnv): Record<string, string> {
  return {
    PROBE_NODES: formatNodes(probe.nodes),
    PROBE_STORE: probe.store,
    PROBE_TOPOLOGY: probe.topology,
    PROBE_TIMEOUT: String(probe.timeoutS),
  };
}
