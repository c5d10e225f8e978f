import { createHash, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { BenchError, environmentError, messageOf } from "../../contract/errors.js";
import { imageVersion, ownPrograms, UNKNOWN_VERSION, versionIn } from "../own-programs.js";
import type {
  Caps,
  EngineFacts,
  ImageFacts,
  Part,
  PartAllocation,
  PartFault,
  PartFaults,
  ProgramFacts,
  ProgramSource,
  RunningPart,
  Runtime,
  RuntimeOptions,
} from "../types.js";
import { Addresses } from "./addresses.js";
import { deriveImages, pathsInImage } from "./derived-images.js";
import { engineFacts } from "./engine.js";
import { ExecPart } from "./exec-part.js";
import { type Builder, commandIn, hasProgram, ownImages, programImages } from "./images.js";
import { CAMPAIGN_LABEL, OWNER_LABEL, ownerText, ROLE_LABEL } from "./labels.js";
import { ContainerPart, type NetworkPlace } from "./part.js";
import { waitForAnswer } from "./readiness.js";
import {
  containerOptions,
  FILES_FOLDER,
  fittingCaps,
  namedPorts,
  OWN_FOLDER,
  PORT,
  refusedUlimit,
  SECOND_PORT,
  type Specification,
  ULIMITS,
  type Ulimit,
} from "./specification.js";

/** The engine's refusal of a lower limit has another cause. */
const MIN_ULIMIT = 1_024;

/** Pause before a network is removed that the engine still takes for used. */
const NETWORK_RETRY_MS = 1_000;

export interface EngineAccess {
  id: string;
  /** In words, e.g. `Docker`. */
  name: string;
  docker: Docker;
  builder: Builder;
  /** Stops what was started to reach the engine. */
  close(): Promise<void>;
}

const labelsOf = ({ owner, campaign }: RuntimeOptions): Record<string, string> => ({
  [OWNER_LABEL]: ownerText(owner),
  [CAMPAIGN_LABEL]: campaign,
});

interface OpenNetwork {
  network: Docker.Network;
  /** Those that parts keep; absent: the engine gives them. */
  addresses?: Addresses;
}

/** Runs each part in its own container, on a network for this campaign alone. */
export class ContainerRuntime implements Runtime {
  readonly capsApplied = true;
  readonly counterSource = "cgroup";
  readonly id: string;
  readonly engine: EngineFacts;
  readonly images: Readonly<Record<string, ImageFacts>>;
  readonly #access: EngineAccess;
  /** The programs besides those of this project by id, or why there is no image. */
  readonly #programs: Map<string, ProgramFacts | string>;
  /** Names of the executables in the images, by program. */
  readonly #commands: Map<string, string>;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #name: string;
  /** Of this campaign, on this machine. */
  readonly #workFolder: string;
  /** Where parts find the plugins and library versions in their images. */
  readonly #addedPaths: Pick<PartAllocation, "plugins" | "versions">;
  #ulimits = ULIMITS;
  readonly #keepsAddresses: boolean;
  #network: Promise<OpenNetwork> | undefined;
  /** Idle containers in which short and interactive processes are executed, by program. */
  readonly #helpers = new Map<string, Promise<ContainerPart>>();

  private constructor(
    access: EngineAccess,
    engine: EngineFacts,
    images: Record<string, ImageFacts>,
    programs: Map<string, ProgramFacts | string>,
    options: RuntimeOptions,
  ) {
    this.id = access.id;
    this.engine = engine;
    this.images = images;
    this.#access = access;
    this.#programs = programs;
    this.#commands = new Map([
      ...ownPrograms.map((id) => [id, "node"] as const),
      ...options.programs.map(({ id, command }) => [id, command] as const),
    ]);
    this.#labels = labelsOf(options);
    this.#addedPaths = pathsInImage(options);
    this.#workFolder = options.workFolder;
    this.#keepsAddresses = options.keepsAddresses ?? false;
    this.#name = `ratelimit-bench-${options.campaign}-${randomBytes(3).toString("hex")}`;
  }

  /** @throws environmentError when the project's own images cannot be built */
  static async open(access: EngineAccess, options: RuntimeOptions): Promise<ContainerRuntime> {
    const { docker } = access;
    const plain = await ownImages(docker, access.builder, options);
    const own = await deriveImages(docker, access.builder, plain, options);
    const others = await programImages(docker, options);
    const engine = await engineFacts(docker, access.name);
    const images: Record<string, ImageFacts> = { ...own };
    const programs = new Map<string, ProgramFacts | string>();
    for (const [id, image] of others) {
      if (typeof image !== "string") images[id] = image;
      programs.set(
        id,
        typeof image === "string" ? image : { path: image.name, version: "", embedded: false, image },
      );
    }
    const labels = labelsOf(options);
    for (const program of options.programs.filter(({ withoutVersionFlag }) => withoutVersionFlag)) {
      const image = images[program.id];
      const found = image ? await hasProgram(docker, image, program, labels) : true;
      if (found !== true) programs.set(program.id, found);
    }
    const runtime = new ContainerRuntime(access, engine, images, programs, options);
    try {
      await Promise.all(options.programs.map((program) => runtime.#readCommand(program)));
      await Promise.all(options.programs.map((program) => runtime.#readVersion(program)));
    } catch (error) {
      await runtime.close();
      throw error;
    }
    return runtime;
  }

  /** Conditions that are only known once containers were started. */
  get conditions(): readonly string[] {
    return Object.entries(this.#ulimits).flatMap(([kind, most]) =>
      most < ULIMITS[kind as Ulimit]
        ? [`the engine cannot grant ${ULIMITS[kind as Ulimit]} (${kind}): ${most} are allowed`]
        : [],
    );
  }

  program(id: string): ProgramFacts | string {
    return this.#programs.get(id) ?? `this campaign does not use ${id}`;
  }

  appliedCaps(caps: Caps): Caps {
    return fittingCaps(caps, this.engine.cpus);
  }

  /** Tries each on an idle container: an engine without privileges may be unable to freeze one, for instance. */
  async partFaults(): Promise<PartFaults> {
    const part = await this.#helper("server");
    const tried = async (fault: PartFault, work: () => Promise<unknown>): Promise<true | string> => {
      try {
        await work();
        return true;
      } catch (error) {
        return `${this.#access.name} cannot ${fault} a container here: ${messageOf(error)}`;
      }
    };
    return {
      // Every engine can.
      kill: true,
      pause: await tried("pause", () => part.pause().then(() => part.resume())),
      disconnect: await tried("disconnect", () => part.disconnect().then(() => part.reconnect())),
    };
  }

  async start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart> {
    const allocation: PartAllocation = {
      host: part.role,
      bind: "0.0.0.0",
      port: PORT,
      secondPort: SECOND_PORT,
      ports: namedPorts(part.ports),
      folder: OWN_FOLDER,
      files: FILES_FOLDER,
      ...this.#addedPaths,
    };
    const command = [this.#commands.get(part.program) ?? part.program, ...part.arguments(allocation)];
    const environment = { LC_ALL: "C", TZ: "UTC", NODE_ENV: "production", ...part.environment(allocation) };
    if (part.interactive) {
      const helper = await this.#helper(part.program);
      const running = await ExecPart.run(this.#access.docker, helper.container, part, command, environment);
      await onBegun(running);
      return running;
    }
    return this.#run(part, command, environment, onBegun);
  }

  async #run(
    part: Part,
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
    onBegun: (part: RunningPart) => Promise<void>,
  ): Promise<ContainerPart> {
    const image = this.images[part.program];
    if (!image) throw environmentError(`${part.role} cannot be started: ${this.program(part.program)}`);
    const place = await this.#placeInNetwork();
    const specification = {
      part: { ...part, ...(part.caps ? { caps: this.appliedCaps(part.caps) } : {}) },
      image: image.id,
      network: place.network.id,
      ...(place.address === undefined ? {} : { address: place.address }),
      command,
      environment,
      files: await this.#filesOf(part),
      labels: { ...this.#labels, [ROLE_LABEL]: part.role },
    };
    const ulimits = this.#ulimits;
    const running = await this.#create({ ...specification, ulimits }, place);
    try {
      await onBegun(running);
      await running.run(this.#access.docker, () => waitForAnswer(this.#access.docker, part, running));
      return running;
    } catch (error) {
      await running.stop();
      const refused = refusedUlimit(messageOf(error));
      if (!refused || ulimits[refused] < MIN_ULIMIT) {
        throw error instanceof BenchError
          ? error
          : environmentError(`${part.role} cannot be started: ${messageOf(error)}`, { cause: error });
      }
      // An engine cannot grant more than its own limit. Parts that start at the same time lower it only once.
      if (this.#ulimits === ulimits)
        this.#ulimits = { ...ulimits, [refused]: Math.floor(ulimits[refused] / 4) };
    }
    return this.#run(part, command, environment, onBegun);
  }

  async #create(specification: Omit<Specification, "name">, place: NetworkPlace): Promise<ContainerPart> {
    const { part } = specification;
    const name = `${this.#name}-${part.role}-${randomBytes(3).toString("hex")}`;
    try {
      const options = containerOptions({ ...specification, name });
      const container = await this.#access.docker.createContainer(options);
      const ports = part.ports ? { ports: namedPorts(part.ports) } : {};
      return new ContainerPart(part, { host: part.role, port: PORT, ...ports }, container, place);
    } catch (error) {
      place.release();
      throw environmentError(`${part.role} cannot be created: ${messageOf(error)}`, { cause: error });
    }
  }

  /** The paths of a part's files on this machine; texts are written once for all parts that have the same. */
  async #filesOf({ files = {} }: Part): Promise<Record<string, string>> {
    const paths: Record<string, string> = {};
    for (const [name, file] of Object.entries(files)) {
      if ("path" in file) {
        paths[name] = resolve(file.path);
        continue;
      }
      const hash = createHash("sha256").update(file.text).digest("hex").slice(0, 16);
      paths[name] = join(this.#workFolder, `file-${hash}`);
      await writeFile(paths[name], file.text, { mode: 0o644 });
    }
    return paths;
  }

  /** A place in the network for one part. */
  async #placeInNetwork(): Promise<NetworkPlace> {
    const { network, addresses } = await this.#openNetwork();
    const address = addresses?.take();
    if (address === undefined) return { network, release: () => {} };
    return { network, address, release: () => addresses?.giveBack(address) };
  }

  #openNetwork(): Promise<OpenNetwork> {
    this.#network ??= this.#createNetwork().catch((error) => {
      throw environmentError(
        `no network can be made: ${messageOf(error)}; scripts/fix-network.sh finds leftover networks of this project`,
        { cause: error },
      );
    });
    return this.#network;
  }

  async #createNetwork(): Promise<OpenNetwork> {
    const options = {
      Name: this.#name,
      Driver: "bridge",
      CheckDuplicate: true,
      Labels: { ...this.#labels },
    };
    const network = await this.#access.docker.createNetwork(options);
    if (!this.#keepsAddresses) return { network };
    // An engine gives fixed addresses only in a subnet that was asked for: the one that it has just found to be free.
    const { IPAM } = await network.inspect().finally(() => network.remove());
    const subnet = IPAM?.Config?.find(({ Subnet }) => Subnet?.includes("."))?.Subnet;
    if (!subnet) throw new Error("the engine does not tell the subnet of a network");
    const fixed = { ...options, IPAM: { Driver: "default", Config: [{ Subnet: subnet }] } };
    return { network: await this.#access.docker.createNetwork(fixed), addresses: new Addresses(subnet) };
  }

  /** A container of that program's image which is idle until processes are executed in it. */
  #helper(program: string): Promise<ContainerPart> {
    let helper = this.#helpers.get(program);
    if (!helper) {
      const part: Part = {
        role: `helper-${program}`,
        program,
        arguments: () => [],
        environment: () => ({}),
        workingFolder: "package",
      };
      helper = this.#run(part, ["sleep", "infinity"], {}, async () => {});
      this.#helpers.set(program, helper);
    }
    return helper;
  }

  /** Asks the program in the image for its version. */
  async #readCommand({ id, command }: ProgramSource): Promise<void> {
    const image = this.images[id];
    if (image) this.#commands.set(id, await commandIn(this.#access.docker, image, command));
  }

  async #readVersion(program: ProgramSource): Promise<void> {
    const { id, command, withoutVersionFlag } = program;
    const facts = this.program(id);
    if (typeof facts === "string") return;
    if (withoutVersionFlag && facts.image) {
      facts.version = imageVersion(facts.image);
      return;
    }
    const helper = await this.#helper(id);
    const versionPart: Part = {
      role: "version",
      program: id,
      arguments: () => [],
      environment: () => ({}),
      workingFolder: "own",
    };
    const printed = await ExecPart.run(
      this.#access.docker,
      helper.container,
      versionPart,
      [this.#commands.get(id) ?? command, "--version"],
      {},
    );
    facts.version = versionIn(await printed.output());
    this.#helpers.delete(id);
    await helper.stop();
    if (facts.version !== UNKNOWN_VERSION || !facts.image) return;
    const executable = { ...program, command: this.#commands.get(id) ?? command };
    const found = await hasProgram(this.#access.docker, facts.image, executable, this.#labels);
    if (found !== true) this.#programs.set(id, found);
  }

  async close(): Promise<void> {
    const left: string[] = [];
    for (const helper of this.#helpers.values()) {
      const part = await helper.catch(() => undefined);
      await part?.stop().catch((error) => left.push(messageOf(error)));
    }
    const { network } = (await this.#network?.catch(() => undefined)) ?? {};
    await network?.remove().catch(async () => {
      // The engine may not have released the endpoint of a removed container yet.
      await sleep(NETWORK_RETRY_MS);
      await network.remove().catch((error) => left.push(`${this.#name}: ${messageOf(error)}`));
    });
    await this.#access.close();
    if (left.length > 0) throw new Error(`could not be removed: ${left.join("; ")}`);
  }
}
