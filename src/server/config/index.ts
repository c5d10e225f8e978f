import type { Limits } from "../../contract/configuration.js";
import { decodePlugins } from "../../contract/plugins.js";
import {
  decodeRunSpec,
  type RunSpec,
  runSpec,
  type ServerSpec,
  type StoreSpec,
} from "../../contract/run-spec.js";
import { decodeServerEnv, type ServerEnv, storeVariableNames } from "../../contract/server-env.js";
import { type StoreAccess, storeAccessFrom } from "../../contract/store-url.js";
import { formatTargetText, parseTargetText, type Target } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { Environment } from "../../kit/env.js";
import { BenchError, usageError } from "../../kit/errors.js";
import { findClient, resolveTarget } from "../../targets/resolve.js";
import { findEngine } from "../../targets/stores/engines.js";
import { stores } from "../../targets/stores/index.js";
import { isCluster } from "../../targets/topologies.js";

export interface ServerConfig {
  spec: RunSpec & { limits: Limits; server: ServerSpec };
  access?: StoreAccess;
}

type RequestedValue = { id: string | undefined; source: string };

/**
 * Returns the value on which all variables agree.
 * @throws usageError naming two that differ
 */
function agreedValue(requested: readonly RequestedValue[]): string | undefined {
  const [first, ...others] = requested.filter(({ id }) => id !== undefined);
  const differing = others.find(({ id }) => id !== first?.id);
  if (first && differing) throw usageError(`${first.source} contradicts ${differing.source}`);
  return first?.id;
}

/**
 * Returns the target that the variables name together.
 * @throws usageError where they contradict each other
 */
function decideTarget(env: ServerEnv): Target {
  const { mode } = env;
  const modeSource = `MODE=${mode}`;
  // An invalid text may contain anything, so only the message of the parser quotes it.
  const parsed = withSource("MODE", () => parseTargetText(mode));
  const client = withSource(modeSource, () => findClient(parsed.client));
  const clusters = Object.entries(env.stores).flatMap(([id, { useCluster }]) =>
    useCluster ? [{ id, source: `${storeVariableNames(id).useCluster}=true` }] : [],
  );
  const storeSource = env.store ? `STORE=${env.store}` : clusters[0]?.source;
  if (client.control && storeSource)
    throw usageError(`${modeSource} contradicts ${storeSource}: ${client.id} uses no store`);

  const store = agreedValue([
    { id: parsed.store, source: modeSource },
    { id: env.store, source: `STORE=${env.store}` },
    ...clusters,
  ]);
  const topology = agreedValue([
    { id: parsed.topology, source: modeSource },
    ...clusters.map(({ source }) => ({ id: "cluster", source })),
  ]);

  const text = formatTargetText(definedOnly({ ...parsed, store, topology }));
  const resolution = withSource(modeSource, () => resolveTarget(text));
  if ("target" in resolution) return resolution.target;
  const source = storeSource ? `${modeSource} contradicts ${storeSource}` : modeSource;
  throw usageError(`${source}: ${resolution.skip}`);
}

/** Runs `decide` and puts the variable's name before the message of a usage error. */
function withSource<Result>(source: string, decide: () => Result): Result {
  try {
    return decide();
  } catch (error) {
    if (error instanceof BenchError)
      throw usageError(`${source}: ${error.message}`, { cause: error });
    throw error;
  }
}

function storeSpecOf(target: Target, env: ServerEnv): StoreSpec {
  const place = { id: target.store, topology: target.topology };
  const variables = env.stores[target.store];
  if (!variables) return { ...place, nodes: [] };
  const cluster = isCluster(target.topology);
  const nodes = cluster ? variables.clusterNodes : [variables.standalone];
  const invalid = nodes.find(({ port }) => port < 1 || port > 65_535);
  if (invalid) {
    const names = storeVariableNames(target.store);
    const name = cluster ? names.clusterNodes : names.port;
    throw usageError(
      `${name}: ${invalid.port} is not a port of a store, it must be from 1 to 65535`,
    );
  }
  return { ...place, nodes };
}

/** Returns the stores that variables can name, which have a program. */
const addressableStores = () =>
  stores.flatMap(({ id, engine }) =>
    engine ? [{ id, defaultPort: findEngine(engine).defaultPort }] : [],
  );

export const pluginPaths = (environment: Environment): string[] =>
  decodeRunSpec(environment)?.plugins ?? decodePlugins(environment);

/**
 * Reads the configuration from RUN_SPEC, or else from the variables of the server.
 * @throws usageError naming what is wrong
 */
export function readConfig(environment: Environment): ServerConfig {
  const runSpecOfCampaign = decodeRunSpec(environment);
  if (runSpecOfCampaign) {
    const { limits, server } = runSpecOfCampaign;
    if (!limits || !server)
      throw usageError(`RUN_SPEC: ${limits ? "server" : "limits"} is missing`);
    const access = storeAccessFrom(environment, runSpecOfCampaign.store);
    return definedOnly({ spec: { ...runSpecOfCampaign, limits, server }, access });
  }

  const env = decodeServerEnv(environment, addressableStores());
  const target = decideTarget(env);
  const { text, label } = target;
  const { limits, server } = env.spec;

  return definedOnly({
    spec: {
      ...runSpec({ ...env.spec, target: { text, label }, store: storeSpecOf(target, env) }),
      limits,
      server,
    },
    access: env.address && env.stores[target.store] ? env.address.access : undefined,
  });
}
