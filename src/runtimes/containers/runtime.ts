import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { BenchError, environmentError, messageOf } from "../../contract/errors.js";
import { stores } from "../../targets/stores/index.js";
import type {
  EngineFacts,
  ImageFacts,
  Part,
  PartAllocation,
  ProgramFacts,
  RunningPart,
  Runtime,
  RuntimeOptions,
} from "../types.js";
import { deriveImages, pathsInImage } from "./derived-images.js";
import { engineFacts } from "./engine.js";
import { ExecPart } from "./exec-part.js";
import { type Builder, ownImages, storeImages } from "./images.js";
import { CAMPAIGN_LABEL, OWNER_LABEL, ownerText, ROLE_LABEL } from "./labels.js";
import { ContainerPart } from "./part.js";
import { waitForAnswer } from "./readiness.js";
import {
  CLUSTER_BUS_PORT,
  containerOptions,
  fittingCaps,
  OWN_FOLDER,
  refusedUlimit,
  SERVICE_PORT,
  type Specification,
  STORE_PORT,
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

/** Runs each part in its own container, on a network for this campaign alone. */
export class ContainerRuntime implements Runtime {
  readonly capsApplied = true;
  readonly counterSource = "cgroup";
  readonly id: string;
  readonly engine: EngineFacts;
  readonly images: Readonly<Record<string, ImageFacts>>;
  readonly #access: EngineAccess;
  readonly #programs: ReadonlyMap<string, ProgramFacts | string>;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #name: string;
  /** Where parts find the plugins and library versions in their images. */
  readonly #addedPaths: Pick<PartAllocation, "plugins" | "versions">;
  #ulimits = ULIMITS;
  #network: Promise<Docker.Network> | undefined;
  /** Idle containers in which short and interactive processes are executed, by image. */
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
    this.#labels = { [OWNER_LABEL]: ownerText(options.owner), [CAMPAIGN_LABEL]: options.campaign };
    this.#addedPaths = pathsInImage(options);
    this.#name = `ratelimit-bench-${options.campaign}-${randomBytes(3).toString("hex")}`;
  }

  /** @throws environmentError when the project's own images cannot be built */
  static async open(access: EngineAccess, options: RuntimeOptions): Promise<ContainerRuntime> {
    const { docker } = access;
    const plain = await ownImages(docker, access.builder, options);
    const own = await deriveImages(docker, access.builder, plain, options);
    const others = await storeImages(docker, options.onSetupStep);
    const engine = await engineFacts(docker, access.name);
    const images: Record<string, ImageFacts> = { ...own };
    const programs = new Map<string, ProgramFacts | string>();
    for (const { id, program } of stores) {
      const image = others[id];
      if (!program || image === undefined) continue;
      if (typeof image !== "string") images[id] = image;
      programs.set(
        program,
        typeof image === "string" ? image : { path: image.name, version: "", embedded: false, image },
      );
    }
    const runtime = new ContainerRuntime(access, engine, images, programs, options);
    try {
      await Promise.all([...programs].map(([program, facts]) => runtime.#readVersion(program, facts)));
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

  program(name: string): ProgramFacts | string {
    return this.#programs.get(name) ?? `no image of ${name} is known`;
  }

  async start(part: Part, onBegun: (part: RunningPart) => Promise<void>): Promise<RunningPart> {
    const port = part.program === "node" ? SERVICE_PORT : STORE_PORT;
    const allocation: PartAllocation = {
      host: part.role,
      bind: "0.0.0.0",
      port,
      secondPort: CLUSTER_BUS_PORT,
      folder: OWN_FOLDER,
      ...this.#addedPaths,
    };
    const command = [part.program, ...part.arguments(allocation)];
    const environment = { LC_ALL: "C", TZ: "UTC", NODE_ENV: "production", ...part.environment(allocation) };
    if (part.interactive) {
      const helper = await this.#helper(part.image);
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
    const image = this.images[part.image];
    if (!image) throw environmentError(`there is no image for ${part.role}: ${part.image}`);
    const network = await this.#openNetwork();
    const specification = {
      part: { ...part, ...(part.caps ? { caps: fittingCaps(part.caps, this.engine.cpus) } : {}) },
      image: image.id,
      network: network.id,
      command,
      environment,
      labels: { ...this.#labels, [ROLE_LABEL]: part.role },
    };
    const ulimits = this.#ulimits;
    const running = await this.#create({ ...specification, ulimits });
    try {
      await onBegun(running);
      await running.run(this.#access.docker);
      await waitForAnswer(this.#access.docker, part, running);
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

  async #create(specification: Omit<Specification, "name">): Promise<ContainerPart> {
    const { part } = specification;
    const name = `${this.#name}-${part.role}-${randomBytes(3).toString("hex")}`;
    try {
      const options = containerOptions({ ...specification, name });
      const container = await this.#access.docker.createContainer(options);
      const port = part.program === "node" ? SERVICE_PORT : STORE_PORT;
      return new ContainerPart(part, { host: part.role, port }, container);
    } catch (error) {
      throw environmentError(`${part.role} cannot be created: ${messageOf(error)}`, { cause: error });
    }
  }

  #openNetwork(): Promise<Docker.Network> {
    this.#network ??= this.#access.docker
      .createNetwork({
        Name: this.#name,
        Driver: "bridge",
        CheckDuplicate: true,
        Labels: { ...this.#labels },
      })
      .catch((error) => {
        throw environmentError(
          `no network can be made: ${messageOf(error)}; scripts/fix-network.sh finds leftover networks of this project`,
          { cause: error },
        );
      });
    return this.#network;
  }

  /** A container of that image which is idle until processes are executed in it. */
  #helper(image: string): Promise<ContainerPart> {
    let helper = this.#helpers.get(image);
    if (!helper) {
      const part: Part = {
        role: `helper-${image}`,
        program: "sleep",
        image,
        arguments: () => [],
        environment: () => ({}),
        workingFolder: "package",
      };
      helper = this.#run(part, ["sleep", "infinity"], {}, async () => {});
      this.#helpers.set(image, helper);
    }
    return helper;
  }

  /** Asks the program in the image for its version. */
  async #readVersion(program: string, facts: ProgramFacts | string): Promise<void> {
    if (typeof facts === "string") return;
    const id = Object.entries(this.images).find(([, image]) => image === facts.image)?.[0] ?? "";
    const helper = await this.#helper(id);
    const versionPart: Part = {
      role: "version",
      program,
      image: id,
      arguments: () => [],
      environment: () => ({}),
      workingFolder: "own",
    };
    const printed = await ExecPart.run(
      this.#access.docker,
      helper.container,
      versionPart,
      [program, "--version"],
      {},
    );
    facts.version = /\bv=?(\d+(?:\.\d+)+)/.exec(await printed.output())?.[1] ?? "unknown";
    this.#helpers.delete(id);
    await helper.stop();
  }

  async close(): Promise<void> {
    const left: string[] = [];
    for (const helper of this.#helpers.values()) {
      const part = await helper.catch(() => undefined);
      await part?.stop().catch((error) => left.push(messageOf(error)));
    }
    const network = await this.#network?.catch(() => undefined);
    await network?.remove().catch(async () => {
      // The engine may not have released the endpoint of a removed container yet.
      await sleep(NETWORK_RETRY_MS);
      await network.remove().catch((error) => left.push(`${this.#name}: ${messageOf(error)}`));
    });
    await this.#access.close();
    if (left.length > 0) throw new Error(`could not be removed: ${left.join("; ")}`);
  }
}
