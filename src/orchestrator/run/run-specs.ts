import type { Configuration } from "../../contract/configuration.js";
import { driverLayerSchema } from "../../contract/layers.js";
import { roleId } from "../../contract/role.js";
import {
  type AddressedServer,
  type RunSpec,
  runSpec,
  type ServiceSpec,
} from "../../contract/run-spec.js";
import { DEFAULT_COMPLEXITY, DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { NodePlace } from "../../kit/env.js";
import type { PartAllocation } from "../../runtimes/runtime-types.js";
import { isEncrypted } from "../../targets/options.js";
import { describeClient, findStore } from "../../targets/resolve.js";
import { workersOf } from "../plan/role-counts.js";
import type { RunSettings } from "./run-settings.js";
import type { StoreAuthority } from "./store/store-authority.js";

export const PROBE = "probe";
export const SERVICE = roleId("service", 1);

/** The time for an answer. A request that takes longer has failed. */
const REQUEST_TIMEOUT_S = 10;

/** The addresses of the roles that were started, by id. */
export type Places = ReadonlyMap<string, NodePlace>;

export function placeOf(id: string, places: Places): NodePlace {
  const place = places.get(id);
  if (place) return place;
  throw new Error(`${id} was not started`);
}

/** The generator of a run that reads the document. */
export interface GeneratorPlace {
  id: string;
  /** Its place among the generators, from 0. */
  index: number;
  generators: number;
}

/**
 * The run specs of one run. Each program gets the same document, with the member that only this
 * program reads.
 */
export class RunSpecs {
  readonly #settings: RunSettings;
  readonly #storeIds: readonly string[];
  readonly #serverIds: readonly string[];

  /** @param storeIds the ids of the store's nodes, or of the relays in front of them */
  constructor(settings: RunSettings, storeIds: readonly string[], serverIds: readonly string[]) {
    this.#settings = settings;
    this.#storeIds = storeIds;
    this.#serverIds = serverIds;
  }

  /** The nonce of a program, by which no two servers are mistaken for each other. */
  nonceOf(id: string): string {
    return `${this.#settings.runNonce}-${id}`;
  }

  /** The addresses of the store's nodes. */
  nodes(places: Places): readonly NodePlace[] {
    return this.#settings.external?.nodes ?? this.#storeIds.map((id) => placeOf(id, places));
  }

  /** The spec of the probe, which gets the nodes with each request, because it starts before them. */
  forProbe(allocation: PartAllocation): RunSpec {
    return this.#common(PROBE, undefined, allocation);
  }

  forServer(id: string, places: Places, allocation: PartAllocation): RunSpec {
    const { configuration, servers, diagnose } = this.#settings;
    return {
      ...this.#common(id, places, allocation),
      server: {
        host: allocation.bind,
        port: allocation.port,
        complexity: configuration.workload.complexity ?? DEFAULT_COMPLEXITY,
        log_level: "silent",
        ...servers?.[this.#serverIds.indexOf(id)],
        ...definedOnly({ diagnose }),
      },
    };
  }

  forGenerator(
    { id, index, generators }: GeneratorPlace,
    places: Places,
    allocation: PartAllocation,
  ): RunSpec {
    const { configuration, workers, warmupS, seed, diagnose, app } = this.#settings;
    const { layer, workload, traffic, load, extent, faults } = configuration;
    return {
      ...this.#common(id, places, allocation),
      generator: {
        layer: driverLayerSchema.parse(layer),
        workload,
        traffic,
        load,
        extent,
        ...definedOnly({ share: generators > 1 ? { index, of: generators } : undefined }),
        workers: workersOf(configuration, workers),
        warmup_s: warmupS,
        seed,
        timeout_s: REQUEST_TIMEOUT_S,
        servers: this.#servers(places),
        progress: "json",
        waits_for_readings: true,
        ...definedOnly({
          timeline: faults ? (true as const) : undefined,
          diagnose,
          request: app?.request,
        }),
      },
    };
  }

  /** The servers that get the load. One that is not ours is asked nothing else. */
  #servers(places: Places): AddressedServer[] {
    const { app } = this.#settings;
    const foreign = app ? (true as const) : undefined;
    if (app?.origin)
      return [{ id: roleId("server", 1), url: app.origin, run_nonce: "", foreign: true }];
    return this.#serverIds.map((id) => {
      const { host, port } = placeOf(id, places);
      const url = `http://${host}:${port}`;
      return definedOnly({ id, url, run_nonce: this.nonceOf(id), foreign });
    });
  }

  /** @param places absent for a program that is started before the store */
  #common(id: string, places: Places | undefined, allocation: PartAllocation): RunSpec {
    const { configuration, runNonce } = this.#settings;
    const { target, limits } = configuration;
    const service =
      target.service && places
        ? serviceSpec(target.service, runNonce, placeOf(SERVICE, places))
        : undefined;
    return runSpec({
      run_nonce: this.nonceOf(id),
      target: { text: target.text, label: target.label },
      limits,
      store: {
        id: target.store,
        topology: target.topology,
        nodes: places ? [...this.nodes(places)] : [],
        ...definedOnly({
          engine: namedEngine(target.store),
          ca: isEncrypted(target) ? authorityIn(this.#settings).ca : undefined,
        }),
      },
      key_prefix: keyPrefixOf(this.#settings),
      plugins: [...(allocation.plugins ?? [])],
      ...definedOnly({ service, versions_folder: allocation.versions }),
    });
  }
}

export function authorityIn({ authority }: Pick<RunSettings, "authority">): StoreAuthority {
  if (authority) return authority;
  throw new Error("an encrypted store needs an authority");
}

/** The settings that options and the user add to the service's defaults, without addresses. */
export const serviceSettings = ({
  target,
  service_env = {},
}: Configuration): Record<string, string> => ({
  ...describeClient(target).serviceEnvironment,
  ...service_env,
});

export function serviceSpec(id: string, nonce: string, place: NodePlace): ServiceSpec {
  const { host, port, ports } = place;
  return { id, nonce, host, port, ...definedOnly({ ports: ports && { ...ports } }) };
}

/**
 * The prefix of a run's keys. On an external store each run has its own, and its keys expire with
 * their window.
 */
export const keyPrefixOf = ({
  external,
  runNonce,
}: Pick<RunSettings, "external" | "runNonce">): string =>
  external ? `ratelimit-bench:${runNonce}` : DEFAULT_KEY_PREFIX;

/**
 * The engine of a store that the user named. The probe must get it, because the store is in none of
 * its lists, or says nothing about its version.
 */
function namedEngine(id: string): RunSpec["store"]["engine"] {
  const { isNamed, engine } = findStore(id);
  return isNamed ? engine : undefined;
}
