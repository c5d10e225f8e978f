import type Docker from "dockerode";
import { environmentError } from "../../contract/errors.js";
import type { Leftover, Owner, RuntimeDescription } from "../types.js";
import { checkEngine, hasStatus } from "./engine.js";
import { noImage, outdatedImages } from "./images.js";
import { OWNER_LABEL, ownerOf } from "./labels.js";
import { removeContainer } from "./part.js";
import { ContainerRuntime, type EngineAccess } from "./runtime.js";
import { fittingCaps } from "./specification.js";

/** An engine that may be missing on this machine. */
export interface Engine {
  id: string;
  name: string;
  /** @throws Error when the engine cannot be reached; the message says what is missing */
  connect(): Promise<EngineAccess>;
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
    const answer = await checkEngine(access.docker, engine.name);
    return "unavailableReason" in answer ? answer : await work(access.docker, answer.what);
  } finally {
    await access.close();
  }
}

/** The engine names an architecture as the kernel or as Go does; `process.arch` has names of its own. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: "x64",
  amd64: "x64",
  aarch64: "arm64",
};

/** A runtime that uses containers of that engine. */
export function containerRuntime(engine: Engine): RuntimeDescription {
  return {
    id: engine.id,
    available: () => withEngine(engine, async (_docker, what) => ({ what })),
    async platform() {
      const answer = await withEngine(engine, async (docker) => (await docker.info()).Architecture as string);
      return typeof answer === "string"
        ? { system: "linux", architecture: ARCHITECTURES[answer] ?? answer }
        : undefined;
    },
    async cpus() {
      const answer = await withEngine(engine, async (docker) => (await docker.info()).NCPU as number);
      return typeof answer === "number" ? answer : undefined;
    },
    appliedCaps: (caps, cpus) => fittingCaps(caps, cpus ?? Number.POSITIVE_INFINITY),
    partFaults: { kill: true, pause: true, disconnect: true },
    // An image is pulled when it is needed.
    has: async (program) => (program.image ? true : noImage(program)),
    async open(options) {
      let access: EngineAccess | undefined;
      try {
        access = await engine.connect();
        const answer = await checkEngine(access.docker, engine.name);
        if ("unavailableReason" in answer)
          throw environmentError(`${answer.unavailableReason}; or use --runtime local`);
        return await ContainerRuntime.open(access, options);
      } catch (error) {
        await access?.close();
        throw access ? error : environmentError(`${(error as Error).message}; or use --runtime local`);
      }
    },
    async leftovers(isAlive) {
      const found = await withEngine(engine, (docker) => findLeftovers(docker, isAlive));
      return Array.isArray(found) ? found.map((thing) => toLeftover(engine, thing)) : [];
    },
    async outdated(packageFolder) {
      const found = await withEngine(engine, (docker) => outdatedImages(docker, packageFolder));
      return Array.isArray(found) ? found.map((thing) => toLeftover(engine, thing)) : [];
    },
  };
}

/** A leftover on an engine, and how it is removed there. */
interface EngineLeftover {
  what: string;
  remove(docker: Docker): Promise<unknown>;
}

/** The removal connects to the engine again. */
const toLeftover = (engine: Engine, { what, remove }: EngineLeftover): Leftover => ({
  what,
  async remove() {
    const answer = await withEngine(engine, async (docker) => {
      await remove(docker);
      return {};
    });
    if ("unavailableReason" in answer) throw new Error(answer.unavailableReason);
  },
});

/** Containers first: a network in use cannot be removed. Volumes are anonymous and go with their container. */
async function findLeftovers(
  docker: Docker,
  isAlive: (owner: Owner) => Promise<boolean>,
): Promise<EngineLeftover[]> {
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
  if (!hasStatus(error, 404)) throw error;
}
