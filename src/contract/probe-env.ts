import { z } from "zod";
import {
  decimalNumber,
  type Environment,
  hostText,
  type NodePlace,
  nodesText,
  parseNodes,
  parseRequest,
  readEnv,
} from "../kit/env.js";
import { workloadSchema } from "./configuration.js";
import { decodePlugins } from "./plugins.js";
import { decodeRunSpec, nodeSchema, type RunSpec, serviceSpecSchema } from "./run-spec.js";
import { type StoreAccess, storeAccessFrom, storeAddressFrom } from "./store-url.js";
import { idSchema } from "./target.js";

export const probeActions = [
  "discover",
  "form",
  "ready",
  "reset",
  "read",
  "diagnose",
  "settings",
  "modules",
  "features",
  "prepare",
  "numbers",
  "stored-keys",
  "persist-keys",
  "fault",
  "ready-service",
  "read-service",
] as const;
export type ProbeAction = (typeof probeActions)[number];

/** The argument with which the probe reads requests from standard input until that ends. */
export const SERVE = "serve";

const shape = {
  PROBE_NODES: nodesText.optional(),
  PROBE_STORE: idSchema.optional(),
  PROBE_TOPOLOGY: idSchema.optional(),
  PROBE_TIMEOUT: decimalNumber(0.1, 600).optional(),
};

/** Faults that the store itself carries out, and `free-memory`, which undoes `fill-memory`. */
export const storeFaultActions = [
  "failover",
  "flush-scripts",
  "flush-keys",
  "fill-memory",
  "free-memory",
] as const;
export type StoreFaultAction = (typeof storeFaultActions)[number];

const storeFaultSchema = z.strictObject({
  action: z.enum(storeFaultActions),
  /** The place of the primary among the nodes. It is present only for `failover`. */
  node: z.int().min(0).optional(),
  /**
   * Whether the store then drops the keys that were longest unused, instead of refusing writes. It
   * is present only for `fill-memory`.
   */
  evicts: z.literal(true).optional(),
  /** The former settings, which are set again. They are present only for `free-memory`. */
  settings: z.record(z.string(), z.string()).optional(),
});
export type StoreFault = z.infer<typeof storeFaultSchema>;

/**
 * One line on the standard input of a serving probe. The probe answers with one line, a
 * `ProbeReport`, or ends.
 */
const probeRequestSchema = z.strictObject({
  actions: z.array(z.enum(probeActions)).min(1),
  /**
   * In the order of roles, primaries first. It is empty for those of the run spec, or the node in
   * STORE_URL.
   */
  nodes: z.array(nodeSchema.extend({ host: hostText })),
  timeout_s: z.number().min(0.1).max(600),
  service: serviceSpecSchema.optional(),
  operation: workloadSchema.optional(),
  /** The keys that are counted. They are present only for `numbers`. */
  keys: z.array(z.string()).optional(),
  fault: storeFaultSchema.optional(),
  /**
   * The commands that carry the limiter's decisions, as the store names them. Without them the
   * commands that run scripts count.
   */
  decision_commands: z.array(z.string().min(1).max(100)).optional(),
});
export type ProbeRequest = z.infer<typeof probeRequestSchema>;

export const parseProbeRequest = (line: string): ProbeRequest =>
  parseRequest("probe", probeRequestSchema, line);

/**
 * What the probe needs of a run; with its variables alone the store's nodes may be unknown (empty).
 */
export interface ProbeEnv {
  spec: Pick<RunSpec, "store" | "plugins">;
  timeoutS: number;
  /**
   * The credentials and encryption of the store. STORE_URL also names the node if no nodes are
   * given.
   */
  access: StoreAccess;
}

export function decodeProbeEnv(env: Environment): ProbeEnv {
  const read = readEnv(shape, env);
  const address = storeAddressFrom(env);
  const addressed: NodePlace[] = address ? [{ host: address.host, port: address.port }] : [];
  const spec = decodeRunSpec(env);
  const store: RunSpec["store"] = spec?.store ?? {
    id: read.PROBE_STORE ?? "valkey",
    topology: read.PROBE_TOPOLOGY ?? "standalone",
    nodes: read.PROBE_NODES ? parseNodes(read.PROBE_NODES) : [],
  };

  return {
    spec: {
      store: { ...store, nodes: store.nodes.length > 0 ? store.nodes : addressed },
      plugins: spec?.plugins ?? decodePlugins(env),
    },
    timeoutS: Number((spec ? undefined : read.PROBE_TIMEOUT) ?? 60),
    access: storeAccessFrom(env, store) ?? {},
  };
}
