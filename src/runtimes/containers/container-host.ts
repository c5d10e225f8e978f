import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import type Docker from "dockerode";
import { pack } from "tar-stream";
import type { DockerHost, RuntimeMachine } from "../../contract/machines.js";
import { BenchError, environmentError, messageOf } from "../../kit/errors.js";
import { helperRole, ownPart, programEnvironment } from "../own-programs.js";
import { getBeside, waitForAnswer } from "../readiness.js";
import {
  type EngineProperties,
  type ImageIdentity,
  type Part,
  type PartAllocation,
  type PartFault,
  type PartFaults,
  type PartFile,
  type ReadyAnswer,
  type RunningPart,
  textOf,
} from "../runtime-types.js";
import {
  containerOptions,
  FILES_FOLDER,
  OWN_FOLDER,
  podCaps,
  refusedUlimit,
  ULIMITS,
  type Ulimit,
} from "./container-options.js";
import { ContainerPart, ExecPart, type PartEngine, removeContainer } from "./container-part.js";
import type { EngineAccess } from "./endpoint.js";
import { copyImages, type ImageHolder } from "./image-copies.js";
import { ROLE_LABEL } from "./labels.js";
import type { NetworkPlace, PartNetwork } from "./networks.js";

/** The mode of files, which nobody can write. A store refuses a module that it may not execute. */
const MODE = 0o555;

/**
 * The files of a part as an archive, for an engine that may be on another machine.
 * @param host the host of the part
 */
async function archiveOf(files: Readonly<Record<string, PartFile>>, host: string): Promise<Buffer> {
  const archive = pack();
  const packed = buffer(archive);
  for (const [name, file] of Object.entries(files)) {
    const content =
      "path" in file ? await readFile(file.path) : Buffer.from(await textOf(file, host));
    archive.entry({ name, mode: MODE, uid: 0, gid: 0, mtime: new Date(0) }, content);
  }
  archive.finalize();
  return packed;
}

const MIN_ULIMIT = 1_024;

export interface HostOptions {
  name: string;
  labels: Readonly<Record<string, string>>;
  addedPaths: Pick<PartAllocation, "plugins" | "versions">;
  imageOf(program: string): { image: ImageIdentity; holder: ImageHolder } | undefined;
  commandOf(program: string): string;
  onSetupStep(text: string): void;
  signal: AbortSignal;
}

type Command = (allocation: PartAllocation) => {
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
};

/** An engine on which a campaign starts containers, with its machine. */
export class ContainerHost implements PartEngine, ImageHolder {
  readonly access: EngineAccess;
  readonly connection: EngineAccess["connection"];
  readonly docker: Docker;
  readonly name: string;
  readonly engine: EngineProperties;
  readonly spec: DockerHost | undefined;
  readonly network: PartNetwork;
  readonly #options: HostOptions;
  readonly #images = new Map<string, Promise<ImageIdentity>>();
  /** Idle containers in which short and interactive processes are executed, by program. */
  readonly #helpers = new Map<string, Promise<ContainerPart>>();
  /** Containers that could not be removed because the engine did not answer. */
  readonly #unremoved = new Map<string, Docker.Container>();
  #ulimits = ULIMITS;

  constructor(
    access: EngineAccess,
    engine: EngineProperties,
    spec: DockerHost | undefined,
    networkOf: (host: ContainerHost) => PartNetwork,
    options: HostOptions,
  ) {
    this.access = access;
    this.connection = access.connection;
    this.docker = access.connection.docker;
    this.name = access.connection.name;
    this.engine = engine;
    this.spec = spec;
    this.#options = options;
    this.network = networkOf(this);
    access.connection.watch();
  }

  get machine(): string | undefined {
    return this.spec?.name;
  }

  get runtimeMachine(): RuntimeMachine | undefined {
    if (!this.spec) return undefined;
    const { operating_system, kernel, cpus, memory_bytes, name, version } = this.engine;
    const engine = `${name} ${version}`;
    return { name: this.spec.name, operating_system, kernel, cpus, memory_bytes, engine };
  }

  /** Conditions that are only known once containers were started. */
  get conditions(): readonly string[] {
    const where = this.spec ? ` on ${this.spec.name}` : "";
    const conditions: string[] = [];
    for (const [kind, limit] of Object.entries(this.#ulimits)) {
      const needed = ULIMITS[kind as Ulimit];
      if (limit < needed)
        conditions.push(
          `the engine${where} cannot grant ${needed} (${kind}): ${limit} are allowed`,
        );
    }
    return conditions;
  }

  /**
   * The image of a program as this engine has it, copied where it is missing; undefined where there
   * is none.
   */
  imageOf(program: string): Promise<ImageIdentity> | undefined {
    const source = this.#options.imageOf(program);
    if (!source) return undefined;

    const knownImage = this.#images.get(program);
    if (knownImage) return knownImage;

    const image = this.#imageFrom(source);
    this.#images.set(program, image);
    image.catch(() => this.#images.delete(program));
    return image;
  }

  async #imageFrom({ image, holder }: { image: ImageIdentity; holder: ImageHolder }) {
    if (holder.docker === this.docker) return image;
    const [copy] = await copyImages(holder, this, [image], this.#options);
    return copy ?? image;
  }

  /** Copies the images of these programs in one go. */
  async bring(programs: readonly string[]): Promise<void> {
    const sources = programs.flatMap((program) => {
      const source = this.#options.imageOf(program);
      const isElsewhere = source !== undefined && source.holder.docker !== this.docker;
      return isElsewhere ? [{ program, ...source }] : [];
    });
    const holder = sources[0]?.holder;
    if (!holder) return;

    const images = sources.map(({ image }) => image);
    const copies = await copyImages(holder, this, images, this.#options);
    for (const [index, { program }] of sources.entries()) {
      const copy = copies[index];
      if (copy) this.#images.set(program, Promise.resolve(copy));
    }
  }

  async start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart> {
    const commandOf: Command = (allocation) => ({
      command: [this.#options.commandOf(part.program), ...part.arguments(allocation)],
      environment: programEnvironment(part, allocation),
    });
    if (!part.interactive) return this.#run(part, commandOf, onBegun);
    const helper = await this.helper(part.program);
    const { host, port } = helper.address;
    const address = { host, bind: host, port, secondPort: port, ports: {} };
    const { command, environment } = commandOf(this.#allocation(address));
    const running = await ExecPart.run(this, helper.container, part, command, environment);
    await onBegun(running);
    return running;
  }

  #allocation(address: NetworkPlace["address"]): PartAllocation {
    return { ...address, folder: OWN_FOLDER, files: FILES_FOLDER, ...this.#options.addedPaths };
  }

  async #run(
    part: Part,
    commandOf: Command,
    onBegun: (part: RunningPart) => Promise<void>,
    findPlace = () => this.network.place(part),
  ): Promise<ContainerPart> {
    const image = await this.imageOf(part.program);
    if (!image)
      throw environmentError(
        `${part.role} cannot be started: there is no image of ${part.program}`,
      );

    await this.removeUnremoved();
    const ulimits = this.#ulimits;
    const place = await findPlace();
    const running = await this.#create(part, image, place, commandOf, ulimits);
    try {
      await onBegun(running);
      await running.run(() => this.#untilReady(part, running, place));
      return running;
    } catch (error) {
      await running.stop();
      this.#lowerRefusedUlimit(part, ulimits, error);
    }
    return this.#run(part, commandOf, onBegun, findPlace);
  }

  /** Asks a part from inside its container, and one that follows its image from a helper. */
  async #untilReady(part: Part, running: ContainerPart, { address }: NetworkPlace): Promise<void> {
    const { bind, port, host } = address;
    const inside = { host: bind === "0.0.0.0" ? "127.0.0.1" : bind, port };
    const asked = part.followsImage ? { host, port } : inside;
    const { container } = part.followsImage ? await this.helper("server") : running;
    await waitForAnswer(part, running, asked, (command, environment) =>
      ExecPart.run(this, container, part, command, environment),
    );
  }

  async get(url: string, headers?: Readonly<Record<string, string>>): Promise<ReadyAnswer> {
    const { container } = await this.helper("server");
    const part = ownPart("helper", "server");
    const execute: Parameters<typeof getBeside>[0] = (command, environment) =>
      ExecPart.run(this, container, part, command, environment);
    return getBeside(execute, url, headers);
  }

  /**
   * Lowers a limit of open files or processes that the engine refused, because its own is lower.
   * @throws the error where it has another reason
   */
  #lowerRefusedUlimit(part: Part, ulimits: typeof ULIMITS, error: unknown): void {
    const refused = refusedUlimit(messageOf(error));
    if (!refused || ulimits[refused] < MIN_ULIMIT) {
      if (error instanceof BenchError) throw error;
      throw environmentError(`${part.role} cannot be started: ${messageOf(error)}`, {
        cause: error,
      });
    }

    // Parts that start at the same time lower the limit only once.
    if (this.#ulimits !== ulimits) return;
    this.#ulimits = { ...ulimits, [refused]: Math.floor(ulimits[refused] / 4) };
  }

  /** The part with caps that this engine's machine has. */
  #fitting(part: Part): Part {
    return part.caps ? { ...part, caps: podCaps(part.caps, this.engine.cpus) } : part;
  }

  async #create(
    part: Part,
    image: ImageIdentity,
    place: NetworkPlace,
    commandOf: Command,
    ulimits: typeof ULIMITS,
  ): Promise<ContainerPart> {
    const { name, labels } = this.#options;
    let container: Docker.Container | undefined;
    try {
      container = await this.docker.createContainer(
        containerOptions({
          part: this.#fitting(part),
          image: image.id,
          place,
          ...commandOf(this.#allocation(place.address)),
          labels: { ...labels, [ROLE_LABEL]: part.role },
          ulimits,
          name: `${name}-${part.role}-${randomBytes(3).toString("hex")}`,
        }),
      );
      const { files = {} } = part;
      if (Object.keys(files).length > 0)
        await container.putArchive(await archiveOf(files, place.address.host), {
          path: FILES_FOLDER,
        });
      return new ContainerPart(part, this, container, place);
    } catch (error) {
      place.release();
      if (container) await removeContainer(container).catch(() => {});
      throw environmentError(`${part.role} cannot be created: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** A container of that program's image which is idle until processes are executed in it. */
  helper(program: string): Promise<ContainerPart> {
    let helper = this.#helpers.get(program);
    if (!helper) {
      const part = ownPart(helperRole(program), program);
      const command = () => ({ command: ["sleep", "infinity"], environment: {} });
      const findPlace = () => this.network.idlePlace?.() ?? this.network.place(part);
      helper = this.#run(part, command, async () => {}, findPlace);
      this.#helpers.set(program, helper);
      void this.#replaceOnceEnded(program, helper);
    }
    return helper;
  }

  /** Makes room for another helper where one could not be started, or has ended with its engine. */
  async #replaceOnceEnded(program: string, helper: Promise<ContainerPart>): Promise<void> {
    const part = await helper.catch(() => undefined);
    await part?.exited;
    // A helper that was stopped on purpose is no longer in the list.
    if (this.#helpers.get(program) !== helper) return;
    this.#helpers.delete(program);
    if (part) await part.stop().catch(() => this.removeLater(part.container));
  }

  async stopHelper(program: string): Promise<void> {
    const helper = this.#helpers.get(program);
    this.#helpers.delete(program);
    await (await helper)?.stop();
  }

  async printedBy(program: string, command: readonly string[]): Promise<string> {
    const { container } = await this.helper(program);
    return (await ExecPart.run(this, container, ownPart("helper", program), command, {})).output();
  }

  /**
   * The faults that this engine can inject. Each is tried on an idle container, because an engine
   * without privileges may be unable to freeze one, for instance.
   */
  async partFaults(program: string): Promise<PartFaults> {
    const part = await this.helper(program);
    const tryFault = async (
      fault: PartFault,
      work: () => Promise<unknown>,
    ): Promise<true | string> => {
      try {
        await work();
        return true;
      } catch (error) {
        return `${this.name} cannot ${fault} a container here: ${messageOf(error)}`;
      }
    };
    const { losesAddress, staysConnected } = this.network;
    return {
      // Every engine can kill a container.
      kill: losesAddress ?? true,
      pause: await tryFault("pause", () => part.pause().then(() => part.resume())),
      disconnect:
        staysConnected ??
        (await tryFault("disconnect", async () => {
          await part.disconnect?.();
          await part.reconnect?.();
        })),
    };
  }

  removeLater(container: Docker.Container): void {
    this.#unremoved.set(container.id, container);
  }

  /** Removes containers that were left when the engine did not answer. @throws Error if it still does not */
  async removeUnremoved(): Promise<void> {
    for (const [id, container] of this.#unremoved) {
      await removeContainer(container);
      this.#unremoved.delete(id);
    }
  }

  /** Removes everything that was started here. @returns one line for each thing that is left */
  async close(): Promise<string[]> {
    const leftovers: string[] = [];
    const helpers = [...this.#helpers.values()];
    this.#helpers.clear();
    for (const helper of helpers) {
      const part = await helper.catch(() => undefined);
      await part?.stop().catch((error) => leftovers.push(messageOf(error)));
    }
    await this.removeUnremoved().catch((error) =>
      leftovers.push(`${this.#unremoved.size} containers (${messageOf(error)})`),
    );
    await this.network.close?.().catch((error) => leftovers.push(messageOf(error)));
    await this.access.close();
    return leftovers;
  }
}
