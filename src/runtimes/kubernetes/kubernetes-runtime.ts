import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { V1Node, V1OwnerReference } from "@kubernetes/client-node";
import type { KubernetesAccess, PlacedKind, RuntimeMachine } from "../../contract/machines.js";
import { type RoleKind, roleId } from "../../contract/role.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { NodePlace } from "../../kit/env.js";
import { BenchError, environmentError, messageOf } from "../../kit/errors.js";
import { shellQuoted } from "../../kit/shell-words.js";
import {
  FILES_FOLDER,
  namedPorts,
  OWN_FOLDER,
  PORT,
  SECOND_PORT,
} from "../containers/container-options.js";
import { noImage } from "../containers/images.js";
import {
  helperRole,
  imageVersion,
  ownPart,
  ownPrograms,
  programEnvironment,
  UNKNOWN_VERSION,
  versionIn,
} from "../own-programs.js";
import { waitForAnswer } from "../readiness.js";
import type {
  Caps,
  EngineProperties,
  FoundProgram,
  ImageIdentity,
  Part,
  PartAllocation,
  PartFaults,
  ProgramSource,
  RunningPart,
  Runtime,
  RuntimeOptions,
} from "../runtime-types.js";
import { ClusterNodes } from "./cluster-nodes.js";
import { apiFailure } from "./failures.js";
import type { KubernetesApi } from "./kubernetes-api.js";
import { ownImage, trialPod } from "./own-images.js";
import { PartFiles } from "./part-files.js";
import { checkPod } from "./permissions.js";
import {
  campaignMetadata,
  HELPER_CAPS,
  labelValue,
  ownAddress,
  type PodRequest,
  podOf,
  selectorOf,
  sharedNodes,
} from "./pod.js";
import { podCaps } from "./pod-caps.js";
import { PodExecPart } from "./pod-exec-part.js";
import { PodPart } from "./pod-part.js";
import { type PodWatch, podWatch } from "./pod-watch.js";

/** The ports of parts that share their node's network, of which each part has its own. */
const HOST_PORTS = { first: 20_000, step: 10, last: 29_000 } as const;
const GONE_WITHIN_MS = 30_000;
const FORCE_AFTER_MS = 8_000;

export const NO_DISCONNECT =
  "Kubernetes has no way to cut one pod from its network without rights on its node: use pause, kill or delay";

/** The kind of a part's role, which its id shows where the part does not name it. */
const kindOf = ({ kind, role }: Part): RoleKind =>
  kind ??
  (/^(store|service|server|generator)-\d+$/.exec(role)?.[1] as RoleKind | undefined) ??
  "helper";

/** The ports of a pod, with those on the node where it shares the node's network. */
type PodPlace = Pick<PartAllocation, "port" | "ports"> & { hostPorts?: readonly number[] };

/** The properties of a part's pod that do not depend on its node. */
type PodStart = Pick<
  PodRequest,
  "part" | "kind" | "image" | "command" | "environment" | "caps" | "files" | "hostPorts"
>;

export class KubernetesRuntime implements Runtime {
  readonly id = "kubernetes";
  readonly capsApplied = true;
  readonly counterSource = "cgroup";
  readonly #api: KubernetesApi;
  readonly #access: KubernetesAccess;
  readonly #watch: PodWatch;
  readonly #options: RuntimeOptions;
  readonly #name: string;
  readonly #owner: V1OwnerReference;
  readonly images: Record<string, ImageIdentity> = {};
  readonly #programs = new Map<string, FoundProgram | string>();
  readonly #commands = new Map<string, string>(ownPrograms.map((id) => [id, "node"]));
  readonly #nodes: ClusterNodes;
  /** The node where each role ran first. It runs there again, so that runs can be compared. */
  readonly #placed = new Map<string, { kind: RoleKind; machine: string | undefined }>();
  readonly #moves: string[] = [];
  readonly #helpers = new Map<string, Promise<PodPart>>();
  readonly #files: PartFiles;
  #nextHostPort = HOST_PORTS.first + Math.floor(Math.random() * 500) * HOST_PORTS.step;

  private constructor(
    api: KubernetesApi,
    access: KubernetesAccess,
    options: RuntimeOptions,
    cluster: { version: string; name: string; owner: V1OwnerReference; nodes: readonly V1Node[] },
  ) {
    this.#api = api;
    this.#access = access;
    this.#options = options;
    this.#name = cluster.name;
    this.#owner = cluster.owner;
    this.#nodes = new ClusterNodes(cluster.version, cluster.nodes);
    this.#watch = podWatch(api, selectorOf(options.owner));
    this.#files = new PartFiles(api, {
      name: cluster.name,
      owner: cluster.owner,
      metadata: campaignMetadata(options.owner, options.campaign),
    });
  }

  /** @throws environmentError when the cluster cannot run the project's own images */
  static async open(
    api: KubernetesApi,
    access: KubernetesAccess,
    options: RuntimeOptions,
  ): Promise<KubernetesRuntime> {
    if ((options.plugins?.length ?? 0) > 0 || options.versions) {
      const what = options.versions ? "library versions" : "plugins and traces";
      throw environmentError(
        `${what} need images that are built for them, which --runtime kubernetes cannot do: use --runtime docker, or leave them out`,
      );
    }
    const tag = labelValue(options.campaign.toLowerCase()).replaceAll(/[._]/g, "-").slice(0, 30);
    const name = `ratelimit-bench-${tag}-${randomBytes(3).toString("hex")}`;
    const metadata = campaignMetadata(options.owner, options.campaign);
    const version = await api.version();
    await checkPod(api, await trialPod(name, metadata, access, options));
    const map = await api.createConfigMap({
      metadata: { name, ...metadata },
      data: { campaign: options.campaign, started: new Date().toISOString() },
    });
    const owner = {
      apiVersion: "v1",
      kind: "ConfigMap",
      name,
      uid: map.metadata?.uid ?? "",
      blockOwnerDeletion: false,
    };
    const nodes = (await api.nodes()) ?? [];
    const runtime = new KubernetesRuntime(api, access, options, { version, name, owner, nodes });
    try {
      await runtime.#inspectImages();
    } catch (error) {
      await runtime.close().catch(() => {});
      throw error;
    }
    return runtime;
  }

  get machines(): readonly RuntimeMachine[] {
    return this.#nodes.machines;
  }

  /**
   * The names of the nodes on which the first role of a kind runs. Further roles may be on others.
   */
  machinesFor(kind: PlacedKind): readonly string[] {
    const machines = [...this.#placed.values()].flatMap((place) =>
      place.kind === kind && place.machine !== undefined ? [place.machine] : [],
    );
    return [...new Set(machines)];
  }

  get engine(): EngineProperties {
    return this.#nodes.engine;
  }

  get conditions(): readonly string[] {
    const conditions = [...sharedNodes(this.#placed), ...this.#moves];
    if (this.#access.host_network)
      conditions.push("pods share the network of their nodes (--host-network)");
    return [...conditions, ...this.#nodes.conditions];
  }

  program(id: string): FoundProgram | string {
    return this.#programs.get(id) ?? `this campaign does not use ${id}`;
  }

  appliedCaps(caps: Caps): Caps {
    return podCaps(caps, this.#nodes.mostCpus);
  }

  async partFaults(): Promise<PartFaults> {
    return { kill: true, pause: true, disconnect: NO_DISCONNECT };
  }

  async start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart> {
    const allocation = this.#allocate(part);
    const command = [
      this.#commands.get(part.program) ?? part.program,
      ...part.arguments(allocation),
    ];
    const environment = programEnvironment(part, allocation);
    if (part.interactive) {
      // The sender of an audit takes the place of a load generator.
      const machine =
        part.machine ??
        (kindOf(part) === "generator" ? this.machinesFor("generator")[0] : undefined);
      const helper = await this.#helper(part.program, machine);
      const running = await PodExecPart.run(this.#api, helper, part, command, environment).catch(
        (error) => {
          throw this.#failed(`${part.role} cannot be started`, error);
        },
      );
      await onBegun(running);
      return running;
    }
    return this.#run(part, command, environment, allocation, onBegun);
  }

  #allocate(part: Part): PartAllocation & PodPlace {
    let port = PORT;
    let secondPort = SECOND_PORT;
    if (this.#access.host_network) {
      port = this.#nextHostPort;
      secondPort = port + 1;
      this.#nextHostPort += HOST_PORTS.step;
      if (this.#nextHostPort > HOST_PORTS.last) this.#nextHostPort = HOST_PORTS.first;
    }
    const offset = secondPort - SECOND_PORT;
    const ports = Object.fromEntries(
      Object.entries(namedPorts(part.ports)).map(([name, number]) => [name, number + offset]),
    );
    const hostPorts = this.#access.host_network
      ? [port, secondPort, ...Object.values(ports)]
      : undefined;
    return definedOnly({
      host: ownAddress,
      bind: "0.0.0.0",
      port,
      secondPort,
      ports,
      folder: OWN_FOLDER,
      files: FILES_FOLDER,
      hostPorts,
    });
  }

  #failed(what: string, error: unknown): BenchError {
    return environmentError(`${what}: ${apiFailure(error, this.#api)}`, { cause: error });
  }

  async #run(
    part: Part,
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
    { port, ports, hostPorts }: PodPlace,
    onBegun: (part: RunningPart) => Promise<void>,
  ): Promise<PodPart> {
    const image = this.images[part.program]?.name;
    if (image === undefined)
      throw environmentError(`${part.role} cannot be started: ${this.program(part.program)}`);

    const kind = kindOf(part);
    const isHelper = part.role.startsWith("helper-");
    const isMeasured = !isHelper && kind !== "helper";
    const files = await this.#files.of(part);
    const start: PodStart = {
      part,
      kind,
      image,
      command,
      environment,
      caps: isMeasured ? this.appliedCaps(part.caps ?? {}) : HELPER_CAPS,
      files,
      hostPorts,
    };
    const place = definedOnly({ port, ports: part.ports ? ports : undefined });
    const begin = (node: string | undefined) => this.#begin(start, place, node, onBegun);

    const earlierNode = isHelper ? undefined : this.#placed.get(part.role)?.machine;
    const running = await begin(part.machine ?? earlierNode).catch((error) => {
      const hasNoPlace = /no node has a place/.test(messageOf(error));
      if (part.machine !== undefined || earlierNode === undefined || !hasNoPlace) throw error;
      // Where the part's earlier node is full, it runs elsewhere rather than not at all.
      this.#moves.push(`${part.role} could not run again on ${earlierNode} and was moved`);
      return begin(undefined);
    });
    if (!isHelper) this.#placed.set(part.role, { kind, machine: running.machine });
    return running;
  }

  /** Creates the pod of a part, and waits until the part answers. */
  async #begin(
    start: PodStart,
    ports: Omit<NodePlace, "host">,
    node: string | undefined,
    onBegun: (part: RunningPart) => Promise<void>,
  ): Promise<PodPart> {
    const { part } = start;
    const name = `${this.#name}-${part.role}-${randomBytes(3).toString("hex")}`;
    const running = new PodPart(part, name, ports, {
      api: this.#api,
      watch: this.#watch,
      ownNetwork: !this.#access.host_network,
    });
    const pod = podOf({
      ...start,
      name,
      node,
      mark: running.mark,
      owner: this.#owner,
      metadata: campaignMetadata(this.#options.owner, this.#options.campaign),
      access: this.#access,
    });
    await this.#api.createPod(pod).catch((error) => {
      throw this.#failed(`${part.role} cannot be created`, error);
    });
    running.caps = start.caps;
    try {
      await onBegun(running);
      await running.run(() => this.#untilReady(part, running));
      return running;
    } catch (error) {
      await running.stop().catch(() => {});
      throw error;
    }
  }

  async #untilReady(part: Part, running: PodPart): Promise<void> {
    await this.#inspectPod(running, part.program);
    const place = { host: "127.0.0.1", port: running.address.port };
    await waitForAnswer(part, running, place, (command) =>
      PodExecPart.run(this.#api, running, part, command, {}),
    );
  }

  /** Reads the properties of a pod's node, and requires the same image on every node. */
  async #inspectPod(running: PodPart, program: string): Promise<void> {
    const { imageId, machine } = running;
    const first = this.images[program];
    if (first && imageId && first.id && first.id !== imageId) {
      throw environmentError(
        `the image ${first.name} on the node ${machine} (${imageId}) is not that of the other nodes (${first.id}): load the same one on every node, or give --registry`,
      );
    }
    await this.#nodes.inspect(running);
  }

  /**
   * An idle pod in which the processes of interactive parts are executed, one for each program and
   * node.
   */
  #helper(program: string, machine: string | undefined): Promise<PodPart> {
    const key = `${program} ${machine ?? ""}`;
    const knownHelper = this.#helpers.get(key);
    if (knownHelper) return knownHelper;

    const helper = this.#idlePod(program, "helper", machine);
    // A pod that failed or was lost with its node is forgotten, so that the next part tries again.
    const forget = (): void => {
      if (this.#helpers.get(key) === helper) this.#helpers.delete(key);
    };
    helper.then(({ exited }) => exited.then(forget), forget);
    this.#helpers.set(key, helper);
    return helper;
  }

  #idlePod(program: string, kind: RoleKind, machine?: string): Promise<PodPart> {
    const part = ownPart(helperRole(program), program, definedOnly({ kind, machine }));
    return this.#run(part, ["sleep", "infinity"], {}, { port: PORT, ports: {} }, async () => {});
  }

  /**
   * Starts each image once, as its kind of role, so that ids, versions and places are known before
   * the first run. Roles are started there again, so that runs can be compared.
   */
  async #inspectImages(): Promise<void> {
    const { programs, packageFolder } = this.#options;
    for (const id of ownPrograms)
      this.images[id] = { name: await ownImage(id, packageFolder, this.#access), id: "" };
    const kinds = { server: "server", loadtest: "generator" } as const;
    const pods: PodPart[] = [];
    try {
      await settled([
        ...ownPrograms.map(async (id) => pods.push(await this.#inspectImage(id, kinds[id]))),
        ...programs.map((program) => this.#inspectProgram(program, program.kind ?? "store", pods)),
      ]);
    } finally {
      await Promise.all(pods.map((pod) => pod.stop().catch(() => {})));
    }
  }

  async #inspectImage(id: string, kind: RoleKind): Promise<PodPart> {
    const pod = await this.#idlePod(id, kind);
    const image = this.images[id];
    const digest = /@(sha256:.*)$/.exec(
      pod.pod?.status?.containerStatuses?.[0]?.imageID ?? "",
    )?.[1];
    if (image) this.images[id] = { ...image, id: pod.imageId, ...definedOnly({ digest }) };
    const role = roleId(kind, 1);
    if (!this.#placed.has(role)) this.#placed.set(role, { kind, machine: pod.machine });
    return pod;
  }

  async #inspectProgram(program: ProgramSource, kind: RoleKind, pods: PodPart[]): Promise<void> {
    const { id, command, image } = program;
    this.#commands.set(id, command);
    if (!image) {
      this.#programs.set(id, noImage(program));
      return;
    }
    this.images[id] = { name: image, id: "" };
    try {
      const pod = await this.#inspectImage(id, kind);
      pods.push(pod);
      // Images that only hold a program have it at their root, which is in no PATH.
      const [name, atRoot] = [shellQuoted(command), shellQuoted(`/${command}`)];
      const path = (await pod.shell(`command -v ${name} || command -v ${atRoot}; true`)).trim();
      if (path === "")
        throw new Error(
          `the image ${image} has no program ${command}: name another with --image ${id}=REF`,
        );
      const identity = this.images[id] as ImageIdentity;
      const knownVersion = program.withoutVersionFlag
        ? imageVersion(identity)
        : versionIn(await pod.shell(`${shellQuoted(path)} --version 2>&1; true`));
      const version = knownVersion || UNKNOWN_VERSION;
      this.#commands.set(id, path);
      this.#programs.set(id, { path: image, version, embedded: false, image: identity });
    } catch (error) {
      delete this.images[id];
      // A program without a usable image is skipped, like one that a machine does not have. Other
      // errors stop the campaign.
      if (error instanceof BenchError && !/ the image | is no name of an image/.test(error.message))
        throw error;
      this.#programs.set(id, messageOf(error).replace(/^helper-\S+ cannot be started: /, ""));
    }
  }

  /** Removes all that this campaign created, and waits until it is gone. */
  async close(): Promise<void> {
    const leftovers: string[] = [];
    const helpers = await Promise.allSettled(this.#helpers.values());
    await Promise.all(
      helpers.map(
        (helper) =>
          helper.status === "fulfilled" &&
          helper.value.stop().catch((error) => leftovers.push(messageOf(error))),
      ),
    );
    // The files, and pods that were not stopped, go with the map that owns them.
    for (const name of [this.#name, ...this.#files.names]) {
      await this.#api
        .deleteConfigMap(name)
        .catch((error) => leftovers.push(`the ConfigMap ${name}: ${apiFailure(error, this.#api)}`));
    }
    leftovers.push(...(await this.#podsLeft()));
    this.#watch.close();
    if (leftovers.length > 0) throw new Error(`could not be removed: ${leftovers.join("; ")}`);
  }

  async #podsLeft(): Promise<string[]> {
    const deadline = performance.now() + GONE_WITHIN_MS;
    for (;;) {
      const pods = await this.#api
        .pods(selectorOf(this.#options.owner))
        .catch((error: unknown) => apiFailure(error, this.#api));
      if (typeof pods === "string") return [`pods, which cannot be listed: ${pods}`];
      const names = pods
        .map(({ metadata }) => metadata?.name ?? "")
        .filter((name) => name.startsWith(this.#name));
      if (names.length === 0) return [];
      if (performance.now() > deadline) return names.map((name) => `the pod ${name}`);
      // A pod is removed by force only where its node does not end it, because otherwise the object
      // would be gone before its processes.
      const isLate = performance.now() > deadline - GONE_WITHIN_MS + FORCE_AFTER_MS;
      for (const name of isLate ? names : [])
        await this.#api.deletePod(name, { graceS: 0 }).catch(() => {});
      await sleep(200);
    }
  }
}

/** Waits for all of some work, so that none goes on unnoticed after another has failed. */
async function settled(work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}
