import { z } from "zod";
import type { Limits } from "./configuration.js";
import {
  type Environment,
  formatNodes,
  hostText,
  isOn,
  type Node,
  nodesText,
  parseNodes,
  readEnv,
  switchText,
  wholeNumber,
} from "./env.js";
import { decodeVersions } from "./library-versions.js";
import { type StoreAddress, storeAddressFrom } from "./store-url.js";
import type { Target } from "./target.js";

const port = wholeNumber(0, 65_535);

const shape = {
  MODE: z.string().max(200).optional(),
  STORE: z.enum(["valkey", "redis"], "must be valkey or redis").optional(),
  HOST: hostText.optional(),
  PORT: port.optional(),
  LOG_LEVEL: z
    .enum(
      ["silent", "error", "warn", "info", "debug", "trace"],
      "must be silent, error, warn, info, debug or trace",
    )
    .optional(),
  VALKEY_HOST: hostText.optional(),
  VALKEY_PORT: port.optional(),
  REDIS_HOST: hostText.optional(),
  REDIS_PORT: port.optional(),
  USE_VALKEY_CLUSTER: switchText.optional(),
  VALKEY_CLUSTER_NODES: nodesText.optional(),
  USE_REDIS_CLUSTER: switchText.optional(),
  REDIS_CLUSTER_NODES: nodesText.optional(),
  RATE_LIMIT_POINTS: wholeNumber(1, 1_000_000_000).optional(),
  RATE_LIMIT_DURATION: wholeNumber(1, 86_400).optional(),
  RATE_LIMIT_BLOCK_DURATION: wholeNumber(0, 86_400).optional(),
  COMPUTATION_COMPLEXITY: wholeNumber(1, 1_000_000).optional(),
  KEY_PREFIX: z
    .string()
    .regex(/^[0-9A-Za-z:_-]{1,64}$/, "must be up to 64 letters, digits, :, - or _")
    .optional(),
  VERSIONS: z.string().max(4096).optional(),
  RUN_NONCE: z
    .string()
    .regex(/^[0-9A-Za-z_-]{1,64}$/, "must be up to 64 letters, digits, - or _")
    .optional(),
};

/** Quota of a server that is started by hand; the harness always passes the quota of the traffic profile. */
const DEFAULT_LIMITS: Limits = { points: 100, window_s: 60, block_s: 0 };
/** Rounds of CPU work of the heavy workload: a few milliseconds of one core. */
export const DEFAULT_COMPLEXITY = 10;
export const DEFAULT_KEY_PREFIX = "rl";
const DEFAULT_MODE = "valkey-glide";

/** The server's environment, typed. The target is resolved later. */
export interface ServerEnv {
  mode: string;
  store?: "valkey" | "redis";
  host: string;
  port: number;
  logLevel: string;
  /** Values of `USE_…_CLUSTER`, by store. */
  useCluster: Record<"valkey" | "redis", boolean>;
  /** Addresses of each store: one node, or those of the cluster. */
  standalone: Record<"valkey" | "redis", Node>;
  clusterNodes: Record<"valkey" | "redis", Node[]>;
  limits: Limits;
  complexity: number;
  runNonce: string;
  /** Prefix of every key, so that runs on an external store do not share keys. */
  keyPrefix: string;
  /** Folder of the library versions that a target may request. */
  versionsFolder: string;
  /** STORE_URL: an external store. */
  address?: StoreAddress;
}

/** @throws usageError naming the variable that is wrong */
export function decodeServerEnv(env: Environment): ServerEnv {
  const read = readEnv(shape, env);
  const address = storeAddressFrom(env);
  const { host, port: defaultPort } = address ?? { host: "127.0.0.1", port: 6379 };
  const valkey = { host: read.VALKEY_HOST ?? host, port: Number(read.VALKEY_PORT ?? defaultPort) };
  const redis = { host: read.REDIS_HOST ?? host, port: Number(read.REDIS_PORT ?? defaultPort) };
  return {
    mode: read.MODE ?? DEFAULT_MODE,
    ...(read.STORE ? { store: read.STORE } : {}),
    host: read.HOST ?? "127.0.0.1",
    port: Number(read.PORT ?? 3001),
    logLevel: read.LOG_LEVEL ?? "silent",
    useCluster: { valkey: isOn(read.USE_VALKEY_CLUSTER), redis: isOn(read.USE_REDIS_CLUSTER) },
    standalone: { valkey, redis },
    clusterNodes: {
      valkey: read.VALKEY_CLUSTER_NODES ? parseNodes(read.VALKEY_CLUSTER_NODES) : [valkey],
      redis: read.REDIS_CLUSTER_NODES ? parseNodes(read.REDIS_CLUSTER_NODES) : [redis],
    },
    limits: {
      points: Number(read.RATE_LIMIT_POINTS ?? DEFAULT_LIMITS.points),
      window_s: Number(read.RATE_LIMIT_DURATION ?? DEFAULT_LIMITS.window_s),
      block_s: Number(read.RATE_LIMIT_BLOCK_DURATION ?? DEFAULT_LIMITS.block_s),
    },
    complexity: Number(read.COMPUTATION_COMPLEXITY ?? DEFAULT_COMPLEXITY),
    runNonce: read.RUN_NONCE ?? "",
    keyPrefix: read.KEY_PREFIX ?? DEFAULT_KEY_PREFIX,
    versionsFolder: decodeVersions(env),
    ...(address ? { address } : {}),
  };
}

export interface ServerAssignment {
  target: Target;
  nodes: readonly Node[];
  limits: Limits;
  complexity?: number;
  runNonce: string;
  keyPrefix?: string;
}

/** Environment variables for a server with `target` on the store at `nodes`; the runtime sets HOST and PORT. */
export function encodeServerEnv(assignment: ServerAssignment): Record<string, string> {
  const { target, nodes, limits, complexity, runNonce, keyPrefix } = assignment;
  const prefix = target.store.toUpperCase();
  const first = nodes[0];
  const place: Record<string, string> = {};
  if (first && target.topology === "cluster") {
    place[`USE_${prefix}_CLUSTER`] = "true";
    place[`${prefix}_CLUSTER_NODES`] = formatNodes(nodes);
  } else if (first) {
    place[`${prefix}_HOST`] = first.host;
    place[`${prefix}_PORT`] = String(first.port);
  }
  return {
    MODE: target.text,
    ...place,
    RATE_LIMIT_POINTS: String(limits.points),
    RATE_LIMIT_DURATION: String(limits.window_s),
    RATE_LIMIT_BLOCK_DURATION: String(limits.block_s),
    ...(complexity === undefined ? {} : { COMPUTATION_COMPLEXITY: String(complexity) }),
    ...(keyPrefix === undefined ? {} : { KEY_PREFIX: keyPrefix }),
    RUN_NONCE: runNonce,
  };
}
