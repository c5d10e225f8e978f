import type { Limits } from "../../contract/configuration.js";
import type { Environment, Node } from "../../contract/env.js";
import { BenchError, usageError } from "../../contract/errors.js";
import { decodeServerEnv, type ServerEnv } from "../../contract/server-env.js";
import { formatTargetText, parseTargetText, type Target } from "../../contract/target.js";
import { findClient, resolveTarget } from "../../targets/resolve.js";
import type { StorePlace } from "../../targets/types.js";

/** All that the server was told, decided and checked. */
export interface ServerConfig {
  target: Target;
  place: StorePlace;
  host: string;
  port: number;
  /** `silent` means no logger at all. */
  logLevel: string;
  limits: Limits;
  /** Rounds of work of `/heavy`. */
  complexity: number;
  runNonce: string;
  keyPrefix: string;
  /** Where versions of libraries are that a target asks for. */
  versionsFolder: string;
}

type StoreId = keyof ServerEnv["useCluster"];
const STORE_IDS = ["valkey", "redis"] as const satisfies readonly StoreId[];

const switchName = (store: StoreId) => `USE_${store.toUpperCase()}_CLUSTER`;

/** What the variables beside MODE ask for, each with the words to name it in a contradiction. */
interface Wish {
  id: string;
  words: string;
}

/** The one value that all wishes name. @throws usageError naming two that differ */
function agree(wishes: readonly (Wish | undefined)[]): string | undefined {
  const given = wishes.filter((wish) => wish !== undefined);
  const other = given.find(({ id }) => id !== given[0]?.id);
  if (given[0] && other) throw usageError(`${given[0].words} contradicts ${other.words}`);
  return given[0]?.id;
}

function wish(id: string | undefined, words: string): Wish | undefined {
  return id === undefined ? undefined : { id, words };
}

/** MODE with STORE and USE_…_CLUSTER folded in, resolved. */
function decideTarget(env: ServerEnv): Target {
  const { mode } = env;
  const words = `MODE=${mode}`;
  // What is not even a target is quoted by the message itself: it may hold anything.
  const asked = naming("MODE", () => parseTargetText(mode));
  const client = naming(words, () => findClient(asked.client));
  const clusters = STORE_IDS.filter((store) => env.useCluster[store]);
  const beside = env.store ? `STORE=${env.store}` : clusters[0] && `${switchName(clusters[0])}=true`;
  if (client.control && beside) {
    throw usageError(`${words} contradicts ${beside}: ${client.id} uses no store`);
  }
  const store = agree([
    wish(asked.store, words),
    wish(env.store, `STORE=${env.store}`),
    ...clusters.map((id) => wish(id, `${switchName(id)}=true`)),
  ]);
  const topology = agree([
    wish(asked.topology, words),
    ...clusters.map((id) => wish("cluster", `${switchName(id)}=true`)),
  ]);
  const text = formatTargetText({ ...asked, ...(store ? { store } : {}), ...(topology ? { topology } : {}) });
  const resolution = naming(words, () => resolveTarget(text));
  if ("target" in resolution) return resolution.target;
  throw usageError(`${beside ? `${words} contradicts ${beside}` : words}: ${resolution.skip}`);
}

/** Runs `decide`; a usage error then says which variable it is about. */
function naming<Result>(words: string, decide: () => Result): Result {
  try {
    return decide();
  } catch (error) {
    if (error instanceof BenchError) throw usageError(`${words}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Where the target's store is. @throws usageError for a port that no store can have */
function placeOf(target: Target, env: ServerEnv): StorePlace {
  const place = { store: target.store, topology: target.topology };
  const store = STORE_IDS.find((id) => id === target.store);
  if (!store) return { ...place, nodes: [] };
  const cluster = target.topology === "cluster";
  const nodes: Node[] = cluster ? env.clusterNodes[store] : [env.standalone[store]];
  const wrong = nodes.find(({ port }) => port < 1 || port > 65_535);
  if (wrong) {
    const name = `${store.toUpperCase()}_${cluster ? "CLUSTER_NODES" : "PORT"}`;
    throw usageError(`${name}: ${wrong.port} is not a port of a store, it must be from 1 to 65535`);
  }
  return { ...place, nodes, ...(env.address ? { access: env.address.access } : {}) };
}

/**
 * The server's environment, typed and decided.
 * @throws usageError naming the variable that is wrong, or the two that contradict each other
 */
export function readConfig(environment: Environment): ServerConfig {
  const env = decodeServerEnv(environment);
  const target = decideTarget(env);
  const { host, port, logLevel, limits, complexity, runNonce, keyPrefix, versionsFolder } = env;
  return {
    target,
    place: placeOf(target, env),
    host,
    port,
    logLevel,
    limits,
    complexity,
    runNonce,
    keyPrefix,
    versionsFolder,
  };
}
