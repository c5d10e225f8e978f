import type { Limits } from "../../contract/configuration.js";
import type { Environment, Node } from "../../contract/env.js";
import { BenchError, usageError } from "../../contract/errors.js";
import { decodeServerEnv, type ServerEnv } from "../../contract/server-env.js";
import { formatTargetText, parseTargetText, type Target } from "../../contract/target.js";
import { findClient, resolveTarget } from "../../targets/resolve.js";
import type { StorePlace } from "../../targets/types.js";

/** The server's configuration, checked and with all defaults. */
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
  /** Folder of the library versions that a target may request. */
  versionsFolder: string;
}

type StoreId = keyof ServerEnv["useCluster"];
const STORE_IDS = ["valkey", "redis"] as const satisfies readonly StoreId[];

const switchName = (store: StoreId) => `USE_${store.toUpperCase()}_CLUSTER`;

/** A value that a variable requests. `source` names the variable in messages. */
interface RequestedValue {
  id: string;
  source: string;
}

/** The value on which all variables agree. @throws usageError naming two that differ */
function agreedValue(requested: readonly (RequestedValue | undefined)[]): string | undefined {
  const given = requested.filter((value) => value !== undefined);
  const other = given.find(({ id }) => id !== given[0]?.id);
  if (given[0] && other) throw usageError(`${given[0].source} contradicts ${other.source}`);
  return given[0]?.id;
}

function requestedValue(id: string | undefined, source: string): RequestedValue | undefined {
  return id === undefined ? undefined : { id, source };
}

/** The target of MODE, STORE and USE_…_CLUSTER. */
function decideTarget(env: ServerEnv): Target {
  const { mode } = env;
  const modeSource = `MODE=${mode}`;
  // An invalid text may contain anything, so only the message of the parser quotes it.
  const parsed = withSource("MODE", () => parseTargetText(mode));
  const client = withSource(modeSource, () => findClient(parsed.client));
  const clusters = STORE_IDS.filter((store) => env.useCluster[store]);
  const beside = env.store ? `STORE=${env.store}` : clusters[0] && `${switchName(clusters[0])}=true`;
  if (client.control && beside) {
    throw usageError(`${modeSource} contradicts ${beside}: ${client.id} uses no store`);
  }
  const store = agreedValue([
    requestedValue(parsed.store, modeSource),
    requestedValue(env.store, `STORE=${env.store}`),
    ...clusters.map((id) => requestedValue(id, `${switchName(id)}=true`)),
  ]);
  const topology = agreedValue([
    requestedValue(parsed.topology, modeSource),
    ...clusters.map((id) => requestedValue("cluster", `${switchName(id)}=true`)),
  ]);
  const text = formatTargetText({
    ...parsed,
    ...(store ? { store } : {}),
    ...(topology ? { topology } : {}),
  });
  const resolution = withSource(modeSource, () => resolveTarget(text));
  if ("target" in resolution) return resolution.target;
  throw usageError(`${beside ? `${modeSource} contradicts ${beside}` : modeSource}: ${resolution.skip}`);
}

/** Runs `decide` and puts the variable's name before the message of a usage error. */
function withSource<Result>(source: string, decide: () => Result): Result {
  try {
    return decide();
  } catch (error) {
    if (error instanceof BenchError) throw usageError(`${source}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Addresses of the target's store. @throws usageError for an impossible port */
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
 * Reads the server's configuration from its environment.
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
