import { z } from "zod";
import { definedOnly } from "../kit/defined-only.js";
import {
  type Environment,
  hostText,
  isOn,
  type NodePlace,
  nodesText,
  parseNodes,
  readEnv,
  switchText,
  wholeNumber,
} from "../kit/env.js";
import type { Limits } from "./configuration.js";
import { decodePlugins } from "./plugins.js";
import { wholeText } from "./ranges.js";
import type { RunSpec, ServerSpec } from "./run-spec.js";
import { type StoreAddress, storeAddressFrom } from "./store-url.js";

const port = wholeNumber(0, 65_535);

const shape = {
  MODE: z.string().max(200).optional(),
  HOST: hostText.optional(),
  PORT: port.optional(),
  LOG_LEVEL: z
    .enum(
      ["silent", "error", "warn", "info", "debug", "trace"],
      "must be silent, error, warn, info, debug or trace",
    )
    .optional(),
  RATE_LIMIT_POINTS: wholeText("points").optional(),
  RATE_LIMIT_DURATION: wholeText("window").optional(),
  RATE_LIMIT_BLOCK_DURATION: wholeText("block").optional(),
  RATE_LIMIT_COST: wholeText("cost").optional(),
  COMPUTATION_COMPLEXITY: wholeText("complexity").optional(),
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

/**
 * Quota of a server that is started by hand; the harness always passes the quota of the traffic
 * profile.
 */
const DEFAULT_LIMITS: Limits = { points: 100, window_s: 60, block_s: 0 };
/**
 * The default rounds of CPU work of the heavy workload. They take a few milliseconds of one core.
 */
export const DEFAULT_COMPLEXITY = 10;
export const DEFAULT_KEY_PREFIX = "rl";
const DEFAULT_MODE = "valkey-glide";

/** A store that the variables can name, and the port where it listens if they do not say. */
export type AddressableStore = { id: string; defaultPort: number };

export type StoreVariables = {
  useCluster: boolean;
  standalone: NodePlace;
  clusterNodes: NodePlace[];
};

export function storeVariableNames(id: string) {
  const name = id.toUpperCase().replaceAll(/[^0-9A-Z]/g, "_");
  return {
    host: `${name}_HOST`,
    port: `${name}_PORT`,
    useCluster: `USE_${name}_CLUSTER`,
    clusterNodes: `${name}_CLUSTER_NODES`,
  } as const;
}

/**
 * The variables of a server that is started by hand: a run spec whose target is not resolved yet.
 */
export interface ServerEnv {
  mode: string;
  store?: string;
  stores: Readonly<Record<string, StoreVariables>>;
  address?: StoreAddress;
  spec: Omit<RunSpec, "schema" | "target" | "store"> & { limits: Limits; server: ServerSpec };
}

function storeVariables(
  { id, defaultPort }: AddressableStore,
  env: Environment,
  address: StoreAddress | undefined,
): StoreVariables {
  const names = storeVariableNames(id);
  const read = readEnv(
    {
      [names.host]: hostText.optional(),
      [names.port]: port.optional(),
      [names.useCluster]: switchText.optional(),
      [names.clusterNodes]: nodesText.optional(),
    },
    env,
  );
  const standalone = {
    host: read[names.host] ?? address?.host ?? "127.0.0.1",
    port: Number(read[names.port] ?? address?.port ?? defaultPort),
  };
  const nodes = read[names.clusterNodes];

  return {
    useCluster: isOn(read[names.useCluster]),
    standalone,
    clusterNodes: nodes ? parseNodes(nodes) : [standalone],
  };
}

export function decodeServerEnv(env: Environment, stores: readonly AddressableStore[]): ServerEnv {
  const ids = stores.map(({ id }) => id);
  const STORE = z.enum(ids, `must be ${ids.slice(0, -1).join(", ")} or ${ids.at(-1)}`).optional();
  const read = readEnv({ ...shape, STORE }, env);
  const address = storeAddressFrom(env);

  return definedOnly({
    mode: read.MODE ?? DEFAULT_MODE,
    store: read.STORE,
    stores: Object.fromEntries(
      stores.map((store) => [store.id, storeVariables(store, env, address)]),
    ),
    address,
    spec: definedOnly({
      run_nonce: read.RUN_NONCE ?? "",
      limits: definedOnly({
        points: Number(read.RATE_LIMIT_POINTS ?? DEFAULT_LIMITS.points),
        window_s: Number(read.RATE_LIMIT_DURATION ?? DEFAULT_LIMITS.window_s),
        block_s: Number(read.RATE_LIMIT_BLOCK_DURATION ?? DEFAULT_LIMITS.block_s),
        cost: Number(read.RATE_LIMIT_COST ?? 1) > 1 ? Number(read.RATE_LIMIT_COST) : undefined,
      }),
      key_prefix: read.KEY_PREFIX ?? DEFAULT_KEY_PREFIX,
      plugins: decodePlugins(env),
      versions_folder: env.VERSIONS || undefined,
      server: {
        host: read.HOST ?? "127.0.0.1",
        port: Number(read.PORT ?? 3001),
        complexity: Number(read.COMPUTATION_COMPLEXITY ?? DEFAULT_COMPLEXITY),
        log_level: read.LOG_LEVEL ?? "silent",
      },
    }),
  });
}
