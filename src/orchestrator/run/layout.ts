import { join } from "node:path";
import type { KindCaps } from "../../contract/configuration.js";
import { isProgramLayer } from "../../contract/layers.js";
import { encodePlugins } from "../../contract/plugins.js";
import { SERVE } from "../../contract/probe-env.js";
import { type MeasuredKind, type RoleKind, roleId } from "../../contract/role.js";
import { encodeRunSpec, type RunSpec } from "../../contract/run-spec.js";
import { healthSchema } from "../../contract/server-api.js";
import { storeAddressFrom } from "../../contract/store-url.js";
import { nodeProgram, storeProgram } from "../../contract/target.js";
import { definedOnly } from "../../kit/defined-only.js";
import { parsedJson } from "../../runtimes/json.js";
import { ownPart } from "../../runtimes/own-programs.js";
import type {
  OwnProgram,
  Part,
  PartAllocation,
  PartFile,
  ReadyAnswer,
} from "../../runtimes/runtime-types.js";
import { isEncrypted } from "../../targets/options.js";
import { describeClient, findStore, findTopology } from "../../targets/resolve.js";
import { findService } from "../../targets/services/index.js";
import { findEngine } from "../../targets/stores/engines.js";
import { needsRelay } from "../plan/planned-faults.js";
import { roleCounts } from "../plan/role-counts.js";
import { appPart } from "./app-role.js";
import type { RunSettings, StartedApp } from "./run-settings.js";
import {
  authorityIn,
  type Places,
  PROBE,
  placeOf,
  RunSpecs,
  serviceSettings,
} from "./run-specs.js";
import type { StoreAuthority } from "./store/store-authority.js";

export interface Role {
  id: string;
  kind: RoleKind;
  /** The ids of the roles that must be ready before this one starts. */
  dependsOn: readonly string[];
  /** Whether the run fails where this role ends early. */
  required: boolean;
  /** The part that the runtime starts. @param places the addresses of the started roles, by id */
  part(places: Places): Part;
  /** The run spec of a load generator; absent for other roles. */
  runSpec?(places: Places, allocation: PartAllocation): RunSpec;
}

/** The first load generator, or the only one. A load program takes its place. */
export const GENERATOR = roleId("generator", 1);
export const SENDER = "sender";

/** The part of a program of this project, whose script has the same path in every runtime. */
const ownProgram = (
  role: string,
  program: OwnProgram,
  folder: string,
  members: Partial<Part>,
): Part => ownPart(role, program, { arguments: () => [`dist/${folder}/index.js`], ...members });

/** All roles of a run. Equal settings give equal roles. */
export function layoutOf(requested: RunSettings): Role[] {
  const { configuration } = requested;
  const usesStore = findStore(configuration.target.store).engine !== undefined;
  const settings = usesStore ? requested : withoutExternalStore(requested);

  const storeIds = roleIds(settings, "store");
  const serviceIds = roleIds(settings, "service");
  const serverIds = roleIds(settings, "server");
  const generatorIds = isLoadedByProgram(settings) ? [] : roleIds(settings, "generator");
  const relayIds = needsRelay(configuration, settings.partFaults) ? storeIds.map(relayOf) : [];

  // All roles but the probe know only the relays.
  const specs = new RunSpecs(settings, relayIds.length > 0 ? relayIds : storeIds, serverIds);
  const stores = storeIds.map((id) => storeRole(id, settings));
  const relays = storeIds.slice(0, relayIds.length).map(relayRole);
  const probes = usesStore ? [probeRole(settings, specs)] : [];
  const behindService = [...storeIds, ...relayIds];
  const services = serviceIds.map((id) => serviceRole(id, settings, behindService, specs));
  const behindServer = [...behindService, ...serviceIds];
  const servers = serverIds.map((id) =>
    settings.app
      ? appRole(id, settings, settings.app, behindServer, specs)
      : serverRole(id, settings, behindServer, specs),
  );
  const behindGenerator = [...behindServer, ...serverIds];
  const generators = generatorIds.map((id, index) => {
    const place = { id, index, generators: generatorIds.length };
    return generatorRole(id, settings, behindGenerator, (places, allocation) =>
      specs.forGenerator(place, places, allocation),
    );
  });

  return [...stores, ...relays, ...probes, ...services, ...servers, ...generators];
}

/** The settings of a target without a store, which gets no access to the external one. */
function withoutExternalStore(settings: RunSettings): RunSettings {
  const { external: _, ...withoutExternal } = settings;
  return withoutExternal;
}

function roleIds({ configuration }: RunSettings, kind: MeasuredKind): string[] {
  const count = roleCounts(configuration)[kind];
  return Array.from({ length: count }, (_, index) => roleId(kind, index + 1));
}

/** Whether the run starts a load program itself, once it knows how many operations to ask for. */
const isLoadedByProgram = ({ configuration }: RunSettings): boolean =>
  isProgramLayer(configuration.layer) || configuration.target.program !== undefined;

const capsFor = ({ caps }: RunSettings, kind: keyof KindCaps): Pick<Part, "caps"> =>
  definedOnly({ caps: caps[kind] });

function storeRole(id: string, settings: RunSettings): Role {
  const { target } = settings.configuration;
  const { module } = target;
  const store = findStore(target.store);
  const engine = findEngine(store.engine ?? "");
  const topology = findTopology(target.topology);
  // A load program of the store layer is no client, so it adds no arguments of the store.
  const { storeArguments = [] } = isProgramLayer(settings.configuration.layer)
    ? {}
    : describeClient(target);

  const argumentsOf = (allocation: PartAllocation): string[] => {
    const tls = isEncrypted(target) ? certificateIn(allocation.files) : undefined;
    const nodeArguments = engine.nodeArguments(store, topology, {
      ...allocation,
      ...definedOnly({ tls }),
    });
    const moduleArguments = module ? ["--loadmodule", join(allocation.files, module)] : [];
    return [...nodeArguments, ...moduleArguments, ...storeArguments];
  };

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
      ...definedOnly({ ports: store.ports }),
      files: storeFiles(settings),
      arguments: argumentsOf,
      environment: (allocation) => engine.nodeEnvironment?.(allocation) ?? {},
    }),
  };
}

function storeFiles(settings: RunSettings): Record<string, PartFile> {
  const { target } = settings.configuration;
  const { module } = target;
  const modulePath = module && settings.modules?.[module];
  const files: Record<string, PartFile> = {};
  if (module && modulePath) files[module] = { path: modulePath };
  if (isEncrypted(target)) Object.assign(files, certificateFiles(authorityIn(settings)));
  return files;
}

/** The names of an encrypted store's files. */
const CERTIFICATE = { cert: "store-cert.pem", key: "store-key.pem" } as const;

const certificateIn = (folder: string) => ({
  cert: join(folder, CERTIFICATE.cert),
  key: join(folder, CERTIFICATE.key),
});

const certificateFiles = ({ key, certificateFor }: StoreAuthority): Record<string, PartFile> => ({
  [CERTIFICATE.key]: { text: key },
  // Other roles may reach the store through its relay.
  [CERTIFICATE.cert]: { text: (host) => certificateFor([...new Set([host, relayOf(host)])]) },
});

const relayOf = (storeId: string): string => storeId.replace("store", "relay");

function relayRole(storeId: string): Role {
  const id = relayOf(storeId);
  return {
    id,
    kind: "helper",
    dependsOn: [storeId],
    required: true,
    part: (places) => {
      const { host, port } = placeOf(storeId, places);
      return ownProgram(id, "server", "helpers/relay", {
        takesInput: true,
        arguments: (allocation) => [
          "dist/helpers/relay/index.js",
          allocation.bind,
          String(allocation.port),
          host,
          String(port),
        ],
      });
    },
  };
}

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
  const { store, topology } = target;
  const service = findService(target.service ?? "");
  const access = settings.external && (storeAddressFrom(settings.external.access)?.access ?? {});
  const texts = service.files(limits, settings.runNonce, access);
  const files = Object.entries(texts).map(([name, text]) => [name, { text }]);
  return {
    id,
    kind: "service",
    dependsOn,
    required: true,
    part: (places) => {
      const storePlace = {
        store,
        topology,
        nodes: specs.nodes(places),
        ...definedOnly({ access }),
      };
      return {
        role: id,
        program: service.id,
        ...capsFor(settings, "service"),
        workingFolder: "own",
        ports: service.ports,
        files: Object.fromEntries(files),
        arguments: (allocation) => service.arguments?.(allocation, storePlace) ?? [],
        environment: (allocation) => ({
          ...service.environment(allocation, storePlace),
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
  const accepts = ({ text }: ReadyAnswer) =>
    healthSchema.safeParse(parsedJson(text)).data?.run_nonce === nonce;
  const { node } = settings.configuration.target;
  const program = node === undefined ? undefined : nodeProgram(node);
  return {
    id,
    kind: "server",
    dependsOn,
    required: true,
    part: (places) =>
      ownProgram(id, "server", "server", {
        ...definedOnly({ program }),
        ...capsFor(settings, "server"),
        environment: (allocation) =>
          environmentOf(specs.forServer(id, places, allocation), settings),
        ready: { path: "/healthz", accepts },
      }),
  };
}

/** The server of an app, in the place of ours. */
const appRole = (
  id: string,
  settings: RunSettings,
  app: StartedApp,
  dependsOn: readonly string[],
  specs: RunSpecs,
): Role => ({
  id,
  kind: "server",
  dependsOn,
  required: true,
  part: (places) => appPart(id, settings, app, specs.nodes(places)),
});

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
 * The sender of an audit, which takes the place of the load generator and gets the servers with each
 * request.
 */
export const senderRole: Role = {
  id: SENDER,
  kind: "generator",
  dependsOn: [],
  required: false,
  part: () => ownProgram(SENDER, "loadtest", "helpers/sender", { interactive: true }),
};

/**
 * The variables of a program of this project. They hold its run spec, and the access to an external
 * store, which is secret.
 */
const environmentOf = (spec: RunSpec, { external }: RunSettings): Record<string, string> => ({
  ...encodeRunSpec(spec),
  ...external?.access,
});

/** The probe of a machine, which measures the links to the other machines. */
export const machineProbePart = (role: string, machine: string): Part =>
  ownProgram(role, "server", "helpers/machine-probe", {
    kind: "helper",
    machine,
    isUncapped: true,
    takesInput: true,
    arguments: (allocation) => [
      "dist/helpers/machine-probe/index.js",
      allocation.bind,
      String(allocation.port),
    ],
  });

/** The probe that detects the type of the user's store. It has no run spec yet. */
export const discoveryPart = (access: Readonly<Record<string, string>>): Part =>
  probePart(({ plugins }) => ({ ...access, ...encodePlugins(plugins) }));
