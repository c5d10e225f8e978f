import type { Configuration, KindCaps } from "../../contract/configuration.js";
import { measuredKinds } from "../../contract/role.js";
import { findTopology } from "../../targets/resolve.js";
import type { RoleCounts } from "../host/machine.js";

/**
 * How many roles of each kind a run of a configuration starts. An external store is not started,
 * nor a server that already runs.
 */
export function roleCounts(
  configuration: Pick<
    Configuration,
    "target" | "servers" | "generators" | "external_store" | "external_server"
  >,
): RoleCounts {
  const { target, servers, generators = 1, external_store, external_server } = configuration;
  const { primaries, replicas } = findTopology(target.topology);
  return {
    server: external_server ? 0 : servers,
    service: target.service ? 1 : 0,
    store: external_store ? 0 : primaries + replicas,
    generator: generators,
  };
}

export function capsOfKinds(caps: KindCaps, counts: RoleCounts): KindCaps {
  const kinds = measuredKinds.filter((kind) => caps[kind] !== undefined && counts[kind] > 0);
  return Object.fromEntries(kinds.map((kind) => [kind, caps[kind]]));
}

export function mostRoles(configurations: readonly Configuration[]): RoleCounts {
  const counts = configurations.map(roleCounts);
  const max = (kind: keyof RoleCounts) =>
    Math.max(0, ...counts.map((roleCount) => roleCount[kind]));
  return {
    server: max("server"),
    service: max("service"),
    store: max("store"),
    generator: max("generator"),
  };
}

/** The workers of each generator, which are no more than it has connections. */
export const workersOf = (
  { generators = 1, load }: Pick<Configuration, "generators" | "load">,
  requested: number,
): number => Math.min(requested, Math.floor(load.connections / generators));
