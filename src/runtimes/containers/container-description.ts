import type Docker from "dockerode";
import type { DockerHost } from "../../contract/machines.js";
import { environmentError } from "../../kit/errors.js";
import { orphanedServices, type ServiceKind } from "../processes.js";
import type {
  IsAlive,
  Leftover,
  ProgramSource,
  RuntimeDescription,
  RuntimeOptions,
} from "../runtime-types.js";
import { checkEngine, findImage, hasEngineStatus, NoAnswer } from "./container-engine.js";
import { podCaps } from "./container-options.js";
import { removeContainer } from "./container-part.js";
import { ContainerRuntime } from "./container-runtime.js";
import type { EngineAccess } from "./endpoint.js";
import { missingImage, noImage } from "./images.js";
import { OWNER_LABEL, ownerOf } from "./labels.js";
import { outdatedImages } from "./own-images.js";

export interface Engine {
  name: string;
  host?: DockerHost;
  connect(): Promise<EngineAccess>;
}

export interface Engines {
  id: string;
  engines: readonly Engine[];
  /** `host` or an overlay network, for several machines. */
  network?: string;
  imageSource?: Engine;
  /** The processes through which engines may be reached. */
  service: ServiceKind;
}

/** Runs `work` if the engine answers, and always stops what was started to reach the engine. */
async function withEngine<Value>(
  engine: Engine,
  work: (docker: Docker, what: string) => Promise<Value>,
): Promise<Value | { unavailableReason: string }> {
  let access: EngineAccess;
  try {
    access = await engine.connect();
  } catch (error) {
    return { unavailableReason: (error as Error).message };
  }
  try {
    const { docker } = access.connection;
    const answer = await checkEngine(docker, engine.name);
    return "unavailableReason" in answer ? answer : await work(docker, answer.what);
  } catch (error) {
    if (error instanceof NoAnswer) return { unavailableReason: error.message };
    throw error;
  } finally {
    await access.close();
  }
}

/**
 * The engine names an architecture as the kernel or as Go does; `process.arch` has names of its
 * own.
 */
export const ARCHITECTURES: Record<string, string> = {
  x86_64: "x64",
  amd64: "x64",
  aarch64: "arm64",
};

export function containerRuntime(runtimeEngines: Engines): RuntimeDescription {
  const { id, engines, service } = runtimeEngines;
  const infoOf = (engine: Engine) => withEngine(engine, (docker) => docker.info());
  return {
    id,
    async available() {
      const answers = await Promise.all(
        engines.map((engine) => withEngine(engine, async (_docker, what) => ({ what }))),
      );
      const reasons = answers.flatMap((answer) =>
        "unavailableReason" in answer ? [answer.unavailableReason] : [],
      );
      if (reasons.length > 0) return { unavailableReason: reasons.join("; ") };
      return { what: answers.map((answer) => ("what" in answer ? answer.what : "")).join("; ") };
    },
    async platform() {
      const info = engines[0] && (await infoOf(engines[0]));
      if (!info || "unavailableReason" in info) return undefined;
      const { Architecture } = info;
      return { system: "linux", architecture: ARCHITECTURES[Architecture] ?? Architecture };
    },
    async cpus() {
      const infos = await Promise.all(engines.map(infoOf));
      const counts = infos.flatMap((info) => ("NCPU" in info ? [info.NCPU as number] : []));
      return counts.length === engines.length ? Math.min(...counts) : undefined;
    },
    appliedCaps: (caps, cpus) => podCaps(caps, cpus ?? Number.POSITIVE_INFINITY),
    partFaults: { kill: true, pause: true, disconnect: true },
    has: (program) => hasImage(engines, program),
    open: (options) => openRuntime(runtimeEngines, options),
    leftovers: async (isAlive) => [
      ...(await foundOn(engines, (docker) => findLeftovers(docker, isAlive))),
      ...(await orphanedServices(service, isAlive)),
    ],
    outdated: (packageFolder) =>
      foundOn(engines, (docker) => outdatedImages(docker, packageFolder)),
  };
}

/** Whether an image is known, which is pulled when it is needed; that of an app must be here. */
async function hasImage(
  [engine]: readonly Engine[],
  program: ProgramSource,
): Promise<true | string> {
  const { image, isApp } = program;
  if (!image) return noImage(program);
  if (!isApp || !engine) return true;
  const engineImage = await withEngine(engine, async (docker) => ({
    isHere: (await findImage(docker, image)) !== undefined,
  }));
  if ("unavailableReason" in engineImage) return engineImage.unavailableReason;
  return engineImage.isHere || missingImage(engine.name, image);
}

async function openRuntime(
  { id, engines, network, imageSource }: Engines,
  options: RuntimeOptions,
): Promise<ContainerRuntime> {
  const isOnHosts = engines.some(({ host }) => host);
  const opened = await connectAll(
    engines,
    isOnHosts ? "" : "; --runtime local needs no containers",
  );
  const source = await imageSource?.connect().catch(() => undefined);
  try {
    return await ContainerRuntime.open(
      {
        id,
        engineName: isOnHosts ? "Docker" : (engines[0]?.name ?? id),
        engines: opened.map((access, index) => ({ access, spec: engines[index]?.host })),
        network,
        imageSource: source && { docker: source.connection.docker, name: "this machine" },
      },
      options,
    );
  } catch (error) {
    for (const access of opened) await access.close();
    throw error;
  } finally {
    await source?.close();
  }
}

/** @param remedy ends the message @throws environmentError when an engine cannot be used */
async function connectAll(engines: readonly Engine[], remedy: string): Promise<EngineAccess[]> {
  const opened: EngineAccess[] = [];
  try {
    for (const engine of engines) {
      const access = await engine.connect();
      opened.push(access);
      const answer = await checkEngine(access.connection.docker, engine.name);
      if ("unavailableReason" in answer) throw new Error(answer.unavailableReason);
    }
    return opened;
  } catch (error) {
    for (const access of opened) await access.close();
    throw environmentError(`${(error as Error).message}${remedy}`);
  }
}

interface EngineLeftover {
  what: string;
  remove(docker: Docker): Promise<unknown>;
}

/**
 * Things on all of the engines that answer, each with the name of its machine where there are
 * several.
 */
async function foundOn(
  engines: readonly Engine[],
  find: (docker: Docker) => Promise<EngineLeftover[]>,
): Promise<Leftover[]> {
  const lists = await Promise.all(
    engines.map(async (engine) => {
      const answer = await withEngine(engine, find);
      const leftovers = Array.isArray(answer) ? answer : [];
      const where = engine.host ? ` on ${engine.host.name}` : "";
      return leftovers.map(({ what, remove }) => ({
        what: what + where,
        /** Connects to the engine again. */
        async remove() {
          const answer = await withEngine(engine, async (docker) => void (await remove(docker)));
          if (answer) throw new Error(answer.unavailableReason);
        },
      }));
    }),
  );
  return lists.flat();
}

/**
 * Containers first: a network in use cannot be removed. Volumes are anonymous and go with their
 * container.
 */
async function findLeftovers(docker: Docker, isAlive: IsAlive): Promise<EngineLeftover[]> {
  const ours = { filters: JSON.stringify({ label: [OWNER_LABEL] }) };
  const isLeftOver = async (labels: Record<string, string> | undefined): Promise<boolean> => {
    const owner = ownerOf(labels?.[OWNER_LABEL]);
    return owner !== undefined && !(await isAlive(owner));
  };
  const things: EngineLeftover[] = [];
  for (const { Id, Names, Labels } of await docker.listContainers({ all: true, ...ours })) {
    if (!(await isLeftOver(Labels))) continue;
    const what = `the container ${Names[0]?.slice(1)} that was left behind`;
    things.push({ what, remove: (engine) => removeContainer(engine.getContainer(Id)) });
  }
  for (const { Id, Name, Labels } of await docker.listNetworks(ours)) {
    if (!(await isLeftOver(Labels))) continue;
    const what = `the network ${Name} that was left behind`;
    things.push({ what, remove: (engine) => engine.getNetwork(Id).remove().catch(ignoreMissing) });
  }
  return things;
}

function ignoreMissing(error: unknown): void {
  if (!hasEngineStatus(error, 404)) throw error;
}
