import type Docker from "dockerode";
import { environmentError } from "../../contract/errors.js";
import type { Leftover, Owner, RuntimeDescription } from "../types.js";
import { ask, is } from "./engine.js";
import { outdatedImages } from "./images.js";
import { OWNER_LABEL, ownerOf } from "./labels.js";
import { removeContainer } from "./part.js";
import { ContainerRuntime, type EngineAccess } from "./runtime.js";

/** An engine that may be there or not. */
export interface Engine {
  id: string;
  name: string;
  /** @throws Error when there is no way to it; the message says what is missing */
  reach(): Promise<EngineAccess>;
}

/** Runs `work` if the engine answers, and always gives back what was started to reach it. */
async function withEngine<Value>(
  engine: Engine,
  work: (docker: Docker, what: string) => Promise<Value>,
): Promise<Value | { lacks: string }> {
  let access: EngineAccess;
  try {
    access = await engine.reach();
  } catch (error) {
    return { lacks: (error as Error).message };
  }
  try {
    const answer = await ask(access.docker, engine.name);
    return "lacks" in answer ? answer : await work(access.docker, answer.what);
  } finally {
    await access.close();
  }
}

/** A runtime of containers on that engine. */
export function containersOn(engine: Engine): RuntimeDescription {
  return {
    id: engine.id,
    available: () => withEngine(engine, async (_docker, what) => ({ what })),
    async cpus() {
      const answer = await withEngine(engine, async (docker) => (await docker.info()).NCPU as number);
      return typeof answer === "number" ? answer : undefined;
    },
    // Every store has an image, which is had or pulled when it is needed.
    has: async () => true,
    async open(options) {
      let access: EngineAccess | undefined;
      try {
        access = await engine.reach();
        const answer = await ask(access.docker, engine.name);
        if ("lacks" in answer) throw environmentError(`${answer.lacks}; or use --runtime local`);
        return await ContainerRuntime.open(access, options);
      } catch (error) {
        await access?.close();
        throw access ? error : environmentError(`${(error as Error).message}; or use --runtime local`);
      }
    },
    async leftovers(isAlive) {
      const found = await withEngine(engine, (docker) => labelled(docker, isAlive));
      return Array.isArray(found) ? found.map((thing) => leftover(engine, thing)) : [];
    },
    async outdated(packageFolder) {
      const found = await withEngine(engine, (docker) => outdatedImages(docker, packageFolder));
      return Array.isArray(found) ? found.map((thing) => leftover(engine, thing)) : [];
    },
  };
}

/** Something on an engine, and how it is removed there. */
export interface Thing {
  what: string;
  remove(docker: Docker): Promise<unknown>;
}

/** An engine that was reached to look may have to be reached again to remove. */
const leftover = (engine: Engine, { what, remove }: Thing): Leftover => ({
  what,
  async remove() {
    const answer = await withEngine(engine, async (docker) => {
      await remove(docker);
      return {};
    });
    if ("lacks" in answer) throw new Error(answer.lacks);
  },
});

/** Containers first: a network that is in use cannot go. Volumes are anonymous, and go with their container. */
async function labelled(docker: Docker, isAlive: (owner: Owner) => Promise<boolean>): Promise<Thing[]> {
  const ours = { filters: JSON.stringify({ label: [OWNER_LABEL] }) };
  const isLeft = async (labels: Record<string, string> | undefined): Promise<boolean> => {
    const owner = ownerOf(labels?.[OWNER_LABEL]);
    return owner !== undefined && !(await isAlive(owner));
  };
  const things: Thing[] = [];
  for (const { Id, Names, Labels } of await docker.listContainers({ all: true, ...ours })) {
    if (!(await isLeft(Labels))) continue;
    const what = `the container ${Names[0]?.slice(1)} that was left behind`;
    things.push({ what, remove: (engine) => removeContainer(engine.getContainer(Id)) });
  }
  for (const { Id, Name, Labels } of await docker.listNetworks(ours)) {
    if (!(await isLeft(Labels))) continue;
    const what = `the network ${Name} that was left behind`;
    things.push({ what, remove: (engine) => engine.getNetwork(Id).remove().catch(unlessGone) });
  }
  return things;
}

function unlessGone(error: unknown): void {
  if (!is(error, 404)) throw error;
}
