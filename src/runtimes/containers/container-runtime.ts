import { randomBytes } from "node:crypto";
import type { DockerHost, PlacedKind, RuntimeMachine } from "../../contract/machines.js";
import { CLEAN_COMMAND, runnableIn } from "../../kit/command-text.js";
import { environmentError } from "../../kit/errors.js";
import { imageVersion, ownPart, ownPrograms, UNKNOWN_VERSION, versionIn } from "../own-programs.js";
import type {
  Caps,
  EngineProperties,
  FoundProgram,
  ImageIdentity,
  Part,
  PartFaults,
  ProgramSource,
  RunningPart,
  Runtime,
  RuntimeOptions,
} from "../runtime-types.js";
import { describeEngine } from "./container-engine.js";
import { ContainerHost, type HostOptions } from "./container-host.js";
import { podCaps } from "./container-options.js";
import { deriveImages, pathsInImage } from "./derived-images.js";
import type { EngineAccess } from "./endpoint.js";
import { fetchImages, type ImageHolder } from "./image-copies.js";
import { commandIn, hasProgram, movedTag, programImages } from "./images.js";
import { CAMPAIGN_LABEL, OWNER_LABEL, ownerText } from "./labels.js";
import {
  HOST_NETWORK,
  machineNetwork,
  overlayNetwork,
  ownNetwork,
  type PartNetwork,
} from "./networks.js";
import { ownImageNames, ownImages } from "./own-images.js";

/**
 * A program that listens on a free port of an address after its first line of input, prints the
 * port's number, and ends with its input.
 */
const LISTEN = `
const server = require("node:net").createServer((socket) => socket.destroy());
server.on("error", (error) => console.log(error.message));
process.stdin.on("end", () => process.exit());
process.stdin.once("data", () => server.listen(15000 + Math.floor(Math.random() * 17000), process.argv[1], () => console.log(server.address().port)));`;

/** A program that prints why it cannot connect, or nothing where it can. */
const CONNECT = `
const [host, port] = process.argv.slice(1);
const socket = require("node:net").connect({ host, port });
socket.setTimeout(5000, () => socket.destroy(new Error("no answer within 5 s")));
socket.on("connect", () => process.exit());
socket.on("error", (error) => process.stdout.write(error.message, () => process.exit()));`;

/** The kinds that connect to each kind. */
const CALLERS: Partial<Record<PlacedKind, readonly PlacedKind[]>> = {
  store: ["server", "store"],
  server: ["generator"],
};

/** Checks that the machines reach each other as needed. @throws environmentError that names both */
async function requireReachable(hosts: readonly ContainerHost[]): Promise<void> {
  const withSpecs = hosts.flatMap((host) => (host.spec ? [{ host, spec: host.spec }] : []));
  for (const { host, spec } of withSpecs) {
    const kinds = spec.roles.flatMap((kind) => CALLERS[kind] ?? []);
    const callers = withSpecs.filter(
      (other) => other.host !== host && other.spec.roles.some((kind) => kinds.includes(kind)),
    );
    if (callers.length > 0) await requireReachableFrom(host, spec, callers);
  }
}

async function requireReachableFrom(
  host: ContainerHost,
  { name, address }: DockerHost,
  callers: readonly { host: ContainerHost; spec: DockerHost }[],
): Promise<void> {
  let listener: RunningPart | undefined;
  try {
    listener = await host.start(
      ownPart("listener", "server", {
        interactive: true,
        arguments: () => ["-e", LISTEN, address],
      }),
      async () => {},
    );
    const port = await listener.ask?.("listen");
    if (!/^\d+$/.test(port ?? ""))
      throw environmentError(
        `nothing can listen on ${address} on ${name} (${port ?? "no answer"}): give an address that this machine itself has`,
      );
    for (const caller of callers) {
      const reason = await caller.host.printedBy("server", [
        "node",
        "-e",
        CONNECT,
        address,
        port ?? "",
      ]);
      if (reason)
        throw environmentError(
          `${caller.spec.name} cannot reach ${name} at ${address} (${reason}): correct its address, or let ports 15000 to 32000 through its firewall`,
        );
    }
  } finally {
    await listener?.stop();
  }
}

/** The kind by which a part is placed. Services run beside the store, and helpers beside the server. */
function placedKindOf({ kind, program }: Pick<Part, "kind" | "program">): PlacedKind {
  if (kind === "store" || kind === "service") return "store";
  if (kind === "generator" || (kind === undefined && program === "loadtest")) return "generator";
  return "server";
}

/** The place of a role among those of its kind, e.g. 2 for `store-3`. They share machines in turn. */
const turnOf = (role: string): number => Math.max(0, Number(/-(\d+)$/.exec(role)?.[1] ?? 1) - 1);

/** The host on which a part runs. @throws Error where there is none */
export function hostOf<Host extends { spec: Pick<DockerHost, "name" | "roles"> | undefined }>(
  part: Pick<Part, "role" | "kind" | "program" | "machine">,
  hosts: readonly Host[],
): Host {
  const namedHost = part.machine && hosts.find(({ spec }) => spec?.name === part.machine);
  if (namedHost) return namedHost;
  if (part.machine && hosts.some(({ spec }) => spec))
    throw new Error(`there is no machine ${part.machine} for ${part.role}`);
  const kind = placedKindOf(part);
  const hostsOfKind = hosts.filter(({ spec }) => spec === undefined || spec.roles.includes(kind));
  const host = hostsOfKind[turnOf(part.role) % hostsOfKind.length];
  if (!host) throw new Error(`no machine is for ${kind} roles`);
  return host;
}

interface ContainerAccess {
  id: string;
  /** The name of the engines in messages, e.g. `Docker`. */
  engineName: string;
  engines: readonly { access: EngineAccess; spec?: DockerHost | undefined }[];
  /** The name `host` or that of an overlay network; absent for the campaign's own network. */
  network?: string | undefined;
  /** Another engine that may have images which these do not have. */
  imageSource?: ImageHolder | undefined;
}

/** A program that prints free ports of an address, below the range of outgoing connections. */
const FREE_PORTS = `
const { createServer } = require("node:net");
const isFree = (port) => new Promise((resolve) => {
  const server = createServer().once("error", () => resolve(false));
  server.listen(port, process.argv[1], () => server.close(() => resolve(true)));
});
(async () => {
  const found = new Set();
  for (let tries = 0; found.size < 64 && tries < 1000; tries++) {
    const port = 15000 + Math.floor(Math.random() * 17000);
    if (await isFree(port)) found.add(port);
  }
  process.stdout.write(JSON.stringify([...found]));
})();`;

async function freePorts(host: ContainerHost, address: string): Promise<number[]> {
  const printed = await host.printedBy("server", ["node", "-e", FREE_PORTS, address]);
  const ports = JSON.parse(printed || "[]") as number[];
  if (ports.length === 0)
    throw environmentError(
      `nothing can listen on ${address} on ${host.spec?.name}: give an address that this machine itself has`,
    );
  return ports;
}

/** @throws environmentError for several architectures, because images are built once and copied */
async function requireOneArchitecture(engines: ContainerAccess["engines"]): Promise<void> {
  if (engines.length < 2) return;
  const machines = await Promise.all(
    engines.map(async ({ access, spec }) => {
      const { Arch } = await access.connection.docker.version();
      return { Arch, name: spec?.name };
    }),
  );
  if (new Set(machines.map(({ Arch }) => Arch)).size === 1) return;

  const list = machines.map(({ name, Arch }) => `${name} ${Arch}`).join(", ");
  throw environmentError(`the machines differ in architecture (${list}): give hosts of one`);
}

/** Runs each part in its own container, on one engine or on those of several machines. */
export class ContainerRuntime implements Runtime {
  readonly capsApplied = true;
  readonly counterSource = "cgroup";
  readonly id: string;
  readonly images: Record<string, ImageIdentity> = {};
  readonly machines?: readonly RuntimeMachine[];
  readonly #hosts: readonly ContainerHost[];
  /** The programs besides those of this project, by id, or why there is no image. */
  readonly #programs = new Map<string, FoundProgram | string>();
  /** Names of the executables in the images, by program. */
  readonly #commands: Map<string, string>;
  readonly #labels: Readonly<Record<string, string>>;

  private constructor(
    { id, engines, network }: ContainerAccess,
    engineProperties: readonly EngineProperties[],
    options: RuntimeOptions,
  ) {
    this.id = id;
    this.#commands = new Map([
      ...ownPrograms.map((program) => [program, "node"] as const),
      ...options.programs.map(({ id: program, command }) => [program, command] as const),
    ]);
    this.#labels = { [OWNER_LABEL]: ownerText(options.owner), [CAMPAIGN_LABEL]: options.campaign };
    const name = `ratelimit-bench-${options.campaign}-${randomBytes(3).toString("hex")}`;
    const shared: HostOptions = {
      name,
      labels: this.#labels,
      addedPaths: pathsInImage(options),
      imageOf: (program) => {
        const image = this.images[program];
        return image ? { image, holder: this.#holderOf(program) } : undefined;
      },
      commandOf: (program) => this.#commands.get(program) ?? program,
      onSetupStep: options.onSetupStep,
      signal: options.signal,
    };
    const overlay =
      network === undefined || network === HOST_NETWORK ? undefined : overlayNetwork(network);
    const networkOf = (host: ContainerHost): PartNetwork => {
      const { spec } = host;
      if (!spec)
        return ownNetwork(host.docker, name, this.#labels, options.keepsAddresses ?? false);
      return overlay ?? machineNetwork(spec.address, () => freePorts(host, spec.address));
    };
    this.#hosts = engines.map(
      ({ access, spec }, index) =>
        new ContainerHost(
          access,
          engineProperties[index] as EngineProperties,
          spec,
          networkOf,
          shared,
        ),
    );
    const machines = this.#hosts.flatMap(({ runtimeMachine }) => runtimeMachine ?? []);
    if (machines.length > 0) this.machines = machines;
  }

  static async open(access: ContainerAccess, options: RuntimeOptions): Promise<ContainerRuntime> {
    const engineProperties = await Promise.all(
      access.engines.map(({ access: { connection } }) =>
        describeEngine(connection.docker, access.engineName),
      ),
    );
    await requireOneArchitecture(access.engines);
    const runtime = new ContainerRuntime(access, engineProperties, options);
    try {
      await runtime.#prepare(access, options);
    } catch (error) {
      await runtime.close();
      throw error;
    }
    return runtime;
  }

  /** Brings the images to where they are used, and reads the versions of their programs. */
  async #prepare(
    { imageSource, network }: ContainerAccess,
    options: RuntimeOptions,
  ): Promise<void> {
    const sources: ImageHolder[] = [...this.#hosts];
    if (imageSource && this.#hosts[0]?.spec) sources.push(imageSource);

    await this.#prepareOwnImages(sources, options);
    await this.#prepareProgramImages(sources, options);
    // Hosts get images one after the other, because these come through the same connection.
    for (const host of this.#hosts) await host.bring(ownPrograms);

    await this.#findUnstartedPrograms(options.programs);
    if (network === HOST_NETWORK) await requireReachable(this.#hosts);
    const programs = options.programs.filter(({ isApp }) => !isApp);
    await Promise.all(programs.map((program) => this.#readCommand(program)));
    await Promise.all(programs.map((program) => this.#readVersion(program)));
  }

  async #prepareOwnImages(sources: readonly ImageHolder[], options: RuntimeOptions): Promise<void> {
    const holder = this.#holderOf("server");
    const { docker } = holder;
    const { builder } = holder.access;
    if (sources.length > 1)
      await fetchImages(sources, holder, await ownImageNames(options.packageFolder), options);
    const images = await ownImages(docker, builder, options);
    Object.assign(this.images, await deriveImages(docker, builder, images, options));
  }

  async #prepareProgramImages(
    sources: readonly ImageHolder[],
    options: RuntimeOptions,
  ): Promise<void> {
    const holder = this.#holderOf("store");
    const names = options.programs.flatMap(({ image }) => image ?? []);
    if (sources.length > 1) await fetchImages(sources, holder, names, options);
    for (const [id, image] of await programImages(holder.docker, options)) {
      if (typeof image === "string") {
        this.#programs.set(id, image);
      } else {
        this.images[id] = image;
        this.#programs.set(id, { path: image.name, version: "", embedded: false, image });
      }
    }
  }

  /** Looks for the programs that no question for their version would find missing. */
  async #findUnstartedPrograms(programs: readonly ProgramSource[]): Promise<void> {
    const { docker } = this.#holderOf("store");
    for (const program of programs.filter(({ withoutVersionFlag }) => withoutVersionFlag)) {
      const image = this.images[program.id];
      const availability = image ? await hasProgram(docker, image, program, this.#labels) : true;
      if (availability !== true) this.#programs.set(program.id, availability);
    }
  }

  /**
   * The host from which the image of a program comes: own programs from the first server's, others
   * from the store's.
   */
  #holderOf(program: string): ContainerHost {
    const kind = ownPrograms.some((id) => id === program) ? "server" : "store";
    return hostOf({ role: `${kind}-1`, kind, program }, this.#hosts);
  }

  /** The engine of the first server. */
  get engine(): EngineProperties {
    return this.#holderOf("server").engine;
  }

  get conditions(): readonly string[] {
    const networks = this.#hosts.flatMap(({ network: { condition } }) => condition ?? []);
    const moved = Object.values(this.images).flatMap((image) => movedTag(image));
    return [...new Set(networks), ...moved, ...this.#hosts.flatMap(({ conditions }) => conditions)];
  }

  program(id: string): FoundProgram | string {
    return this.#programs.get(id) ?? `this campaign does not use ${id}`;
  }

  machinesFor(kind: PlacedKind): readonly string[] {
    return this.#hosts.flatMap(({ spec }) => (spec?.roles.includes(kind) ? spec.name : []));
  }

  appliedCaps(caps: Caps): Caps {
    return podCaps(caps, Math.min(...this.#hosts.map(({ engine: { cpus } }) => cpus)));
  }

  partFaults(): Promise<PartFaults> {
    return this.#holderOf("server").partFaults("server");
  }

  async start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart> {
    if (!this.images[part.program])
      throw environmentError(`${part.role} cannot be started: ${this.program(part.program)}`);
    return hostOf(part, this.#hosts).start(part, onBegun);
  }

  async #readCommand({ id, command }: ProgramSource): Promise<void> {
    const image = this.images[id];
    if (image) this.#commands.set(id, await commandIn(this.#holderOf(id).docker, image, command));
  }

  async #readVersion(program: ProgramSource): Promise<void> {
    const { id, command, withoutVersionFlag } = program;
    const foundProgram = this.program(id);
    if (typeof foundProgram === "string") return;
    if (withoutVersionFlag && foundProgram.image) {
      foundProgram.version = imageVersion(foundProgram.image);
      return;
    }
    const host = this.#holderOf(id);
    const executable = { ...program, command: this.#commands.get(id) ?? command };
    foundProgram.version = versionIn(await host.printedBy(id, [executable.command, "--version"]));
    await host.stopHelper(id);
    if (foundProgram.version !== UNKNOWN_VERSION || !foundProgram.image) return;

    const availability = await hasProgram(
      host.docker,
      foundProgram.image,
      executable,
      this.#labels,
    );
    if (availability !== true) this.#programs.set(id, availability);
  }

  async close(): Promise<void> {
    const leftoversByHost = await Promise.all(this.#hosts.map((host) => host.close()));
    const leftovers = leftoversByHost.flat();
    if (leftovers.length === 0) return;

    const command = runnableIn(this.machines ? `${CLEAN_COMMAND} --hosts FILE` : CLEAN_COMMAND);
    throw environmentError(
      `could not be removed: ${leftovers.join("; ")}; try again with: ${command}`,
    );
  }
}
