import { join } from "node:path";
import type { Configuration, KindCaps, Warmup } from "../../contract/configuration.js";
import { driverLayerSchema, isProgramLayer } from "../../contract/layers.js";
import { encodePlugins } from "../../contract/plugins.js";
import { SERVE } from "../../contract/probe-env.js";
import { type MeasuredKind, type RoleKind, roleId } from "../../contract/role.js";
import {
  encodeRunSpec,
  type RunSpec,
  runSpec,
  type ServerSpec,
  type ServiceSpec,
} from "../../contract/run-spec.js";
import { healthSchema } from "../../contract/server-api.js";
import { DEFAULT_COMPLEXITY, DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import type { Discovery } from "../../contract/store.js";
import { storeAddressFrom } from "../../contract/store-url.js";
import { nodeProgram, storeProgram } from "../../contract/target.js";
import type { Node } from "../../kit/env.js";
import { ownPart } from "../../runtimes/own-programs.js";
import type { OwnProgram, Part, PartAllocation, PartFaults } from "../../runtimes/runtime-types.js";
import { isEncrypted } from "../../targets/options.js";
import { describeClient, findStore, findTopology } from "../../targets/resolve.js";
import { findService } from "../../targets/services/index.js";
import { findEngine } from "../../targets/stores/engines.js";
import { needsRelay } from "../plan/planned-faults.js";
import { roleCounts, workersOf } from "../plan/role-counts.js";
import { storeAuthority } from "./store-authority.js";

/** A store that the user already runs, with the variables that give programs access to it. */
export interface ExternalStore extends Discovery {
  access: Readonly<Record<string, string>>;
}

/** What an audit gives one of its servers. */
export type ServerDifference = Pick<ServerSpec, "clock_shift_ms" | "by_address">;

export interface RunSettings {
  configuration: Configuration;
  /** Random: programs of another run are not mistaken for those of this one. */
  runNonce: string;
  /**
   * The traffic's seed; the same for all configurations of a round, so that they get the same
   * requests.
   */
  seed: number;
  warmupS: Warmup;
  workers: number;
  /** The requested caps; the runtime applies what it can. */
  caps: KindCaps;
  /** The store that the user already runs. */
  external?: ExternalStore;
  /** How each server differs, in their order. */
  servers?: readonly ServerDifference[];
  /** Servers and store are read with instruments that cost CPU time. */
  diagnose?: true;
  partFaults?: PartFaults;
  /** Files of modules by id; absent where no target needs one. */
  modules?: Readonly<Record<string, string>>;
}

export interface Role {
  id: string;
  kind: RoleKind;
  /** Ids of the roles that must be ready before it starts. */
  dependsOn: readonly string[];
  /** The run fails when it ends early. */
  required: boolean;
  /** What the runtime starts. @param places addresses of the started roles, by id */
  part(places: ReadonlyMap<string, Node>): Part;
  /** What a load generator is asked; absent for other roles. */
  runSpec?(places: ReadonlyMap<string, Node>, allocation: PartAllocation): RunSpec;
}

export const PROBE = "probe";
/** The first load generator, or the only one: a foreign program, too. */
export const GENERATOR = roleId("generator", 1);
export const SERVICE = roleId("service", 1);
export const SENDER = "sender";

/** A request that takes longer has failed. */
const REQUEST_TIMEOUT_S = 10;

type Places = ReadonlyMap<string, Node>;

/** A program of this project; its script has the same path in every runtime. */
const ownProgram = (role: string, program: OwnProgram, folder: string, more: Partial<Part>): Part =>
  ownPart(role, program, { arguments: () => [`dist/${folder}/index.js`], ...more });

/** All roles of a run. Pure: equal settings give equal roles. */
export function layoutOf({ external, ...others }: RunSettings): Role[] {
  const { configuration } = others;
  const usesStore = findStore(configuration.target.store).engine !== undefined;
  // A target without a store has no use for the external one, and gets no access to it.
  const settings = { ...others, ...(external && usesStore ? { external } : {}) };
  const counts = roleCounts(configuration);
  const idsOf = (kind: MeasuredKind) =>
    Array.from({ length: counts[kind] }, (_, index) => roleId(kind, index + 1));
  const [storeIds, serviceIds, serverIds] = [idsOf("store"), idsOf("service"), idsOf("server")];
  // The run starts a foreign program itself, once it knows how many operations to ask for.
  const isForeign =
    isProgramLayer(configuration.layer) || configuration.target.program !== undefined;
  const generatorIds = isForeign ? [] : idsOf("generator");
  const relayIds = needsRelay(configuration, settings.partFaults) ? storeIds.map(relayOf) : [];
  // All but the probe know the relays alone.
  const specs = runSpecsOf(settings, relayIds.length > 0 ? relayIds : storeIds, serverIds);
  return [
    ...storeIds.map((id) => storeRole(id, settings)),
    ...relayIds.map((id, index) => relayRole(id, storeIds[index] ?? "")),
    ...(usesStore ? [probeRole(settings, specs)] : []),
    ...serviceIds.map((id) => serviceRole(id, settings, [...storeIds, ...relayIds], specs)),
    ...serverIds.map((id) =>
      serverRole(id, settings, [...storeIds, ...relayIds, ...serviceIds], specs),
    ),
    ...generatorIds.map((id, index) =>
      generatorRole(
        id,
        settings,
        [...storeIds, ...relayIds, ...serviceIds, ...serverIds],
        (...where) => specs.forGenerator({ id, index, of: generatorIds.length }, ...where),
      ),
    ),
  ];
}

const capsFor = ({ caps }: RunSettings, kind: keyof KindCaps): Pick<Part, "caps"> => {
  const own = caps[kind];
  return own ? { caps: own } : {};
};

function storeRole(id: string, settings: RunSettings): Role {
  const { target } = settings.configuration;
  const store = findStore(target.store);
  const topology = findTopology(target.topology);
  const { storeArguments = [] } = isProgramLayer(settings.configuration.layer)
    ? {}
    : describeClient(target);
  const { module } = target;
  const file = module === undefined ? undefined : settings.modules?.[module];
  return {
    id,
    kind: "store",
    dependsOn: [],
    required: true,
    part: () => ({
      role: id,
      program: storeProgram(target),
      ...capsFor(settings, "store"),
      workingFolder: "own",
      ...(store.ports ? { ports: store.ports } : {}),
      files: {
        ...(module && file ? { [module]: { path: file } } : {}),
        ...(isEncrypted(target) ? certificateFiles() : {}),
      },
      arguments: (allocation) => [
        ...findEngine(store.engine ?? "").nodeArguments(store, topology, {
          ...allocation,
          ...(isEncrypted(target) ? { tls: certificateIn(allocation.files) } : {}),
        }),
        ...(module ? ["--loadmodule", join(allocation.files, module)] : []),
        ...storeArguments,
      ],
      environment: (allocation) =>
        findEngine(store.engine ?? "").nodeEnvironment?.(allocation) ?? {},
    }),
  };
}

/** Names of an encrypted store's files. */
const CERTIFICATE = { cert: "store-cert.pem", key: "store-key.pem" } as const;

const certificateIn = (folder: string) => ({
  cert: join(folder, CERTIFICATE.cert),
  key: join(folder, CERTIFICATE.key),
});

const certificateFiles = (): NonNullable<Part["files"]> => {
  const { key, certificateFor } = storeAuthority();
  return {
    [CERTIFICATE.key]: { text: key },
    // The others may reach it through its relay.
    [CERTIFICATE.cert]: { text: (host) => certificateFor([...new Set([host, relayOf(host)])]) },
  };
};

const relayOf = (storeId: string): string => storeId.replace("store", "relay");

const relayRole = (id: string, storeId: string): Role => ({
  id,
  kind: "helper",
  dependsOn: [storeId],
  required: true,
  part: (places) => {
    const { host, port } = placeOf(storeId, places);
    return ownProgram(id, "server", "helpers/relay", {
      takesInput: true,
      arguments: (own) => [
        "dist/helpers/relay/index.js",
        own.bind,
        String(own.port),
        host,
        String(port),
      ],
    });
  },
});

const probePart = (environment: Part["environment"]): Part =>
  ownProgram(PROBE, "server", "helpers/probe", {
    interactive: true,
    arguments: () => ["dist/helpers/probe/index.js", SERVE],
    environment,
  });

/** The probe, which forms, empties and reads the store. It gets the nodes with each request. */
const probeRole = (settings: RunSettings, specs: RunSpecs): Role => ({
  id: PROBE,
  kind: "helper",
  dependsOn: [],
  required: false,
  part: () => probePart((allocation) => environmentOf(specs.forProbe(allocation), settings)),
});

/** The service between server and store. The probe says when it is ready. */
function serviceRole(
  id: string,
  settings: RunSettings,
  dependsOn: readonly string[],
  specs: RunSpecs,
): Role {
  const { target, limits } = settings.configuration;
  const service = findService(target.service ?? "");
  const access = settings.external && (storeAddressFrom(settings.external.access)?.access ?? {});
  const texts = service.files(limits, settings.runNonce, access);
  return {
    id,
    kind: "service",
    dependsOn,
    required: true,
    part: (places) => {
      const { store, topology } = target;
      const place = { store, topology, nodes: specs.nodes(places), ...(access ? { access } : {}) };
      return {
        role: id,
        program: service.id,
        ...capsFor(settings, "service"),
        workingFolder: "own",
        ports: service.ports,
        files: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { text }])),
        arguments: (allocation) => service.arguments?.(allocation, place) ?? [],
        environment: (allocation) => ({
          ...service.environment(allocation, place),
          ...serviceSettings(settings.configuration),
        }),
      };
    },
  };
}

/** A server under test. It is ready when its health check returns its nonce. */
function serverRole(
  id: string,
  settings: RunSettings,
  dependsOn: readonly string[],
  specs: RunSpecs,
): Role {
  const nonce = specs.nonceOf(id);
  const accepts = (body: unknown) => healthSchema.safeParse(body).data?.run_nonce === nonce;
  const { node } = settings.configuration.target;
  return {
    id,
    kind: "server",
    dependsOn,
    required: true,
    part: (places) =>
      ownProgram(id, "server", "server", {
        ...(node === undefined ? {} : { program: nodeProgram(node) }),
        ...capsFor(settings, "server"),
        environment: (allocation) =>
          environmentOf(specs.forServer(id, places, allocation), settings),
        ready: { path: "/healthz", accepts },
      }),
  };
}

const generatorRole = (
  id: string,
  settings: RunSettings,
  dependsOn: readonly string[],
  specOf: (places: Places, allocation: PartAllocation) => RunSpec,
): Role => ({
  id,
  kind: "generator",
  dependsOn,
  required: false,
  part: (places) =>
    ownProgram(id, "loadtest", "benchmark", {
      takesInput: true,
      ...capsFor(settings, "generator"),
      environment: (allocation) => environmentOf(specOf(places, allocation), settings),
    }),
  runSpec: specOf,
});

/**
 * The sender of an audit, which takes the place of the load generator. It gets the servers with
 * each request.
 */
export const senderRole: Role = {
  id: SENDER,
  kind: "generator",
  dependsOn: [],
  required: false,
  part: () => ownProgram(SENDER, "loadtest", "helpers/sender", { interactive: true }),
};

/**
 * The variables of a program of this project: its run spec, and the access to an external store,
 * which is secret.
 */
const environmentOf = (spec: RunSpec, { external }: RunSettings) => ({
  ...encodeRunSpec(spec),
  ...external?.access,
});

/** The probe of a machine. It measures the links to the others, which reach it at its address. */
export const machineProbePart = (role: string, machine: string): Part =>
  ownProgram(role, "server", "helpers/machine-probe", {
    kind: "helper",
    machine,
    isUncapped: true,
    takesInput: true,
    arguments: (own) => ["dist/helpers/machine-probe/index.js", own.bind, String(own.port)],
  });

/** Detects the type of the user's store; it has no run spec, as nothing is known yet. */
export const discoveryPart = (access: Readonly<Record<string, string>>): Part =>
  probePart(({ plugins }) => ({ ...access, ...encodePlugins(plugins) }));

/** The settings that options and the user add to the service's own; without addresses. */
export const serviceSettings = ({
  target,
  service_env = {},
}: Configuration): Record<string, string> => ({
  ...describeClient(target).serviceEnvironment,
  ...service_env,
});

export const serviceSpec = (
  id: string,
  nonce: string,
  { host, port, ports }: Node,
): ServiceSpec => ({
  id,
  nonce,
  host,
  port,
  ...(ports ? { ports: { ...ports } } : {}),
});

type RunSpecs = ReturnType<typeof runSpecsOf>;

/**
 * What one run asks of its programs: the same document for each, with the member that only this
 * program reads.
 */
function runSpecsOf(
  settings: RunSettings,
  storeIds: readonly string[],
  serverIds: readonly string[],
) {
  const { configuration, runNonce } = settings;
  const { target, limits, workload, traffic, load, extent } = configuration;
  const diagnose = settings.diagnose ? ({ diagnose: true } as const) : {};
  /** Each server has its own nonce, so that no two are mistaken for each other. */
  const nonceOf = (id: string): string => `${runNonce}-${id}`;
  const nodes = (places: Places): readonly Node[] =>
    settings.external?.nodes ?? storeIds.map((id) => placeOf(id, places));
  const spec = (
    id: string,
    places: Places | undefined,
    { plugins = [], versions }: PartAllocation,
  ) =>
    runSpec({
      run_nonce: nonceOf(id),
      target: { text: target.text, label: target.label },
      limits,
      store: {
        id: target.store,
        ...namedEngine(target.store),
        topology: target.topology,
        nodes: places ? [...nodes(places)] : [],
        ...(isEncrypted(target) ? { ca: storeAuthority().ca } : {}),
      },
      ...(target.service && places
        ? { service: serviceSpec(target.service, runNonce, placeOf(SERVICE, places)) }
        : {}),
      key_prefix: keyPrefixOf(settings),
      plugins: [...plugins],
      ...(versions ? { versions_folder: versions } : {}),
    });
  return {
    nonceOf,
    nodes,
    forProbe: (allocation: PartAllocation): RunSpec => spec(PROBE, undefined, allocation),
    forServer: (id: string, places: Places, allocation: PartAllocation): RunSpec => ({
      ...spec(id, places, allocation),
      server: {
        host: allocation.bind,
        port: allocation.port,
        complexity: workload.complexity ?? DEFAULT_COMPLEXITY,
        log_level: "silent",
        ...settings.servers?.[serverIds.indexOf(id)],
        ...diagnose,
      },
    }),
    forGenerator: (
      { id, index, of }: { id: string; index: number; of: number },
      places: Places,
      allocation: PartAllocation,
    ): RunSpec => ({
      ...spec(id, places, allocation),
      generator: {
        layer: driverLayerSchema.parse(configuration.layer),
        workload,
        traffic,
        load,
        extent,
        ...(of > 1 ? { share: { index, of } } : {}),
        workers: workersOf(configuration, settings.workers),
        warmup_s: settings.warmupS,
        seed: settings.seed,
        timeout_s: REQUEST_TIMEOUT_S,
        servers: serverIds.map((server) => {
          const { host, port } = placeOf(server, places);
          return { id: server, url: `http://${host}:${port}`, run_nonce: nonceOf(server) };
        }),
        progress: "json",
        waits_for_readings: true,
        ...(configuration.faults ? { timeline: true } : {}),
        ...diagnose,
      },
    }),
  };
}

/**
 * On an external store the keys of each run have their own prefix, and expire with their window.
 */
export const keyPrefixOf = ({
  external,
  runNonce,
}: Pick<RunSettings, "external" | "runNonce">): string =>
  external ? `ratelimit-bench:${runNonce}` : DEFAULT_KEY_PREFIX;

/**
 * What the probe must know of a store that is in no list of its own, or says nothing about its
 * version.
 */
function namedEngine(id: string): Pick<RunSpec["store"], "engine"> {
  const { isNamed, engine } = findStore(id);
  return isNamed && engine ? { engine } : {};
}

function placeOf(id: string, places: Places): Node {
  const place = places.get(id);
  if (place) return place;
  throw new Error(`${id} was not started`);
}
