import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { V1Node, V1OwnerReference, V1Pod } from "@kubernetes/client-node";
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
  ULIMITS,
} from "../containers/container-options.js";
import { noImage } from "../containers/images.js";
import { ownName } from "../containers/own-images.js";
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
import {
  type Caps,
  type EngineProperties,
  type FoundProgram,
  type ImageIdentity,
  type OwnProgram,
  type Part,
  type PartAllocation,
  type PartFaults,
  type ProgramSource,
  type RunningPart,
  type Runtime,
  type RuntimeOptions,
  textOf,
} from "../runtime-types.js";
import { apiFailure } from "./failures.js";
import type { KubernetesApi } from "./kubernetes-api.js";
import { checkPod } from "./permissions.js";
import {
  campaignMetadata,
  DEFAULT_CAPS,
  HELPER_CAPS,
  labelValue,
  ownAddress,
  type PodRequest,
  podOf,
  selectorOf,
  sharedNodes,
} from "./pod.js";
import { PodExecPart } from "./pod-exec-part.js";
import { PodPart } from "./pod-part.js";
import { type PodWatch, podWatch } from "./pod-watch.js";

/** The most bytes of the files of a part, which a ConfigMap takes with its own text. */
const MOST_FILE_BYTES = 1_000_000;

/** The ports of parts that share their node's network, of which each part has its own. */
const HOST_PORTS = { first: 20_000, step: 10, last: 29_000 } as const;
const GONE_WITHIN_MS = 30_000;
const FORCE_AFTER_MS = 8_000;

const READ_NODE =
  "uname -r; grep -c ^processor /proc/cpuinfo; grep MemTotal: /proc/meminfo; ulimit -n; if [ -f /sys/fs/cgroup/cpu.stat ]; then echo 2; else echo 1; fi";

export const NO_DISCONNECT =
  "Kubernetes has no way to cut one pod from its network without rights on its node: use pause, kill or delay";

/** The kind of a part's role, which its id shows where the part does not name it. */
const kindOf = ({ kind, role }: Part): RoleKind =>
  kind ??
  (/^(store|service|server|generator)-\d+$/.exec(role)?.[1] as RoleKind | undefined) ??
  "helper";

/** The name of an image of this project, as the nodes pull it. */
const ownImage = async (
  program: OwnProgram,
  packageFolder: string,
  { registry }: KubernetesAccess,
) => `${registry === undefined ? "" : `${registry}/`}${await ownName(program, packageFolder)}`;

/**
 * A pod like the smallest of a campaign. A quota that forbids a larger one is reported when its role
 * starts.
 */
async function trialPod(
  name: string,
  metadata: ReturnType<typeof campaignMetadata>,
  access: KubernetesAccess,
  { packageFolder }: RuntimeOptions,
): Promise<V1Pod> {
  const part = ownPart("helper-trial", "server");
  return podOf({
    part,
    kind: "helper",
    name: `${name}-trial`,
    command: ["true"],
    environment: {},
    caps: HELPER_CAPS,
    image: await ownImage("server", packageFolder, access),
    mark: "trial",
    metadata,
    access,
  });
}

/** The ports of a pod, with those on the node where it shares the node's network. */
type PodPlace = Pick<PartAllocation, "port" | "ports"> & { hostPorts?: readonly number[] };

/** The properties of a part's pod that do not depend on its node. */
type PodStart = Pick<
  PodRequest,
  "part" | "kind" | "image" | "command" | "environment" | "caps" | "files" | "hostPorts"
>;

interface NodeProperties extends RuntimeMachine {
  cgroup_version: string;
  open_files: number;
}

export class KubernetesRuntime implements Runtime {
  readonly id = "kubernetes";
  readonly capsApplied = true;
  readonly counterSource = "cgroup";
  readonly #api: KubernetesApi;
  readonly #access: KubernetesAccess;
  readonly #watch: PodWatch;
  readonly #options: RuntimeOptions;
  readonly #version: string;
  readonly #name: string;
  readonly #owner: V1OwnerReference;
  /** Nodes as the cluster lists them, where that is allowed. */
  readonly #listed: ReadonlyMap<string, V1Node>;
  readonly images: Record<string, ImageIdentity> = {};
  readonly #programs = new Map<string, FoundProgram | string>();
  readonly #commands = new Map<string, string>(ownPrograms.map((id) => [id, "node"]));
  readonly #nodes = new Map<string, NodeProperties>();
  /** The node where each role ran first. It runs there again, so that runs can be compared. */
  readonly #placed = new Map<string, { kind: RoleKind; machine: string | undefined }>();
  readonly #moves: string[] = [];
  readonly #helpers = new Map<string, Promise<PodPart>>();
  readonly #fileMaps = new Map<string, Promise<string>>();
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
    this.#version = cluster.version;
    this.#name = cluster.name;
    this.#owner = cluster.owner;
    this.#listed = new Map(cluster.nodes.map((node) => [node.metadata?.name ?? "", node]));
    this.#watch = podWatch(api, selectorOf(options.owner));
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
    return [...this.#nodes.values()].map(
      ({ cgroup_version: _, open_files: __, ...machine }) => machine,
    );
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
    const [node] = this.#nodes.values();
    return {
      name: "Kubernetes",
      version: this.#version,
      api_version: "v1",
      operating_system: node?.operating_system ?? "unknown",
      kernel: node?.kernel ?? "unknown",
      cpus: node?.cpus ?? 0,
      memory_bytes: node?.memory_bytes ?? 0,
      cgroup_version: node?.cgroup_version ?? "unknown",
    };
  }

  get conditions(): readonly string[] {
    const conditions = [...sharedNodes(this.#placed), ...this.#moves];
    if (this.#access.host_network)
      conditions.push("pods share the network of their nodes (--host-network)");
    for (const { name, open_files } of this.#nodes.values()) {
      if (open_files < ULIMITS.nofile)
        conditions.push(`pods on ${name} may open ${open_files} files, not ${ULIMITS.nofile}`);
    }
    return conditions;
  }

  program(id: string): FoundProgram | string {
    return this.#programs.get(id) ?? `this campaign does not use ${id}`;
  }

  appliedCaps(caps: Caps): Caps {
    return podCaps(caps, mostCpus([...this.#listed.values()]));
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
    const files = await this.#filesOf(part);
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

  /** Reads the properties of a pod's node once, and requires the same image on every node. */
  async #inspectPod(running: PodPart, program: string): Promise<void> {
    const { imageId, machine } = running;
    const first = this.images[program];
    if (first && imageId && first.id && first.id !== imageId) {
      throw environmentError(
        `the image ${first.name} on the node ${machine} (${imageId}) is not that of the other nodes (${first.id}): load the same one on every node, or give --registry`,
      );
    }
    if (this.#nodes.has(machine)) return;
    const printed = await running.shell(READ_NODE).catch(() => "");
    const [kernel = "unknown", cpus, memory = "", open_files, cgroup_version = "unknown"] =
      printed.split("\n");
    const nodeInfo = this.#listed.get(machine)?.status?.nodeInfo;
    const version = nodeInfo
      ? `kubelet ${nodeInfo.kubeletVersion}, ${nodeInfo.containerRuntimeVersion.replace("://", " ")}`
      : `Kubernetes ${this.#version}`;
    if (!printed) return;
    this.#nodes.set(machine, {
      name: machine,
      operating_system: nodeInfo?.osImage ?? "Linux",
      kernel,
      cpus: Number(cpus),
      memory_bytes: Number(/\d+/.exec(memory)?.[0]) * 1024,
      engine: version,
      open_files: open_files === "unlimited" ? Number.POSITIVE_INFINITY : Number(open_files),
      cgroup_version,
    });
  }

  async #filesOf({ role, files = {} }: Part): Promise<PodRequest["files"]> {
    const entries = Object.entries(files);
    if (entries.length === 0) return undefined;
    const contents = await Promise.all(
      entries.map(async ([path, file]) => ({
        path,
        bytes:
          "path" in file ? await readFile(file.path) : Buffer.from(await textOf(file, ownAddress)),
      })),
    );
    const size_bytes = contents.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (size_bytes > MOST_FILE_BYTES) {
      throw environmentError(
        `the files of ${role} have ${size_bytes} bytes, and a ConfigMap takes ${MOST_FILE_BYTES}: put them into an image and name it with --image`,
      );
    }
    const hash = createHash("sha256");
    for (const { path, bytes } of contents) hash.update(`${path}\n${bytes.length}\n`).update(bytes);
    const name = `${this.#name}-files-${hash.digest("hex").slice(0, 12)}`;
    const configMap = this.#fileMaps.get(name) ?? this.#storeFiles(name, role, contents);
    this.#fileMaps.set(name, configMap);
    const paths = Object.fromEntries(contents.map(({ path }, index) => [`file-${index}`, path]));
    return { configMap: await configMap, paths };
  }

  /** Stores the files of a part. @returns the name of the ConfigMap that holds them */
  async #storeFiles(
    name: string,
    role: string,
    contents: readonly { bytes: Buffer }[],
  ): Promise<string> {
    const metadata = {
      name,
      ...campaignMetadata(this.#options.owner, this.#options.campaign),
      ownerReferences: [this.#owner],
    };
    const binaryData = Object.fromEntries(
      contents.map(({ bytes }, index) => [`file-${index}`, bytes.toString("base64")]),
    );
    await this.#api.createConfigMap({ metadata, immutable: true, binaryData }).catch((error) => {
      throw this.#failed(`the files of ${role} cannot be stored`, error);
    });
    return name;
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
    for (const name of [this.#name, ...this.#fileMaps.keys()]) {
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

/**
 * The caps of a pod, which are those of the user or else a default. The kubelet chooses the numbers
 * of CPUs.
 * @param mostCpus the most CPUs that a node has; undefined where that is not known
 */
export function podCaps({ cpus, memory_bytes }: Caps, mostCpus: number | undefined): Caps {
  const requestedCpus = cpus ?? DEFAULT_CAPS.cpus;
  return {
    cpus: mostCpus === undefined ? requestedCpus : Math.min(requestedCpus, mostCpus),
    memory_bytes: memory_bytes ?? DEFAULT_CAPS.memory_bytes,
  };
}

const cpusOf = (text = ""): number =>
  text.endsWith("m") ? Number(text.slice(0, -1)) / 1000 : Number(text);

/** The most CPUs that one of the nodes has; undefined where no node reports them. */
export function mostCpus(nodes: readonly V1Node[]): number | undefined {
  const cpuCounts = nodes
    .map(({ status }) => cpusOf(status?.allocatable?.cpu))
    .filter((cpus) => cpus > 0);
  return cpuCounts.length > 0 ? Math.max(...cpuCounts) : undefined;
}
