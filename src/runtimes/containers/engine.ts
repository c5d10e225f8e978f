import type Docker from "dockerode";
import { messageOf } from "../../contract/errors.js";
import type { EngineFacts, ImageFacts } from "../types.js";

const ANSWER_WITHIN_MS = 5_000;

/** Whether the engine answered with this HTTP status. */
export const is = (error: unknown, status: number): boolean =>
  (error as { statusCode?: number }).statusCode === status;

/** An engine that is spoken to by the Docker API, whoever made it. */
export async function engineAt(endpoint: Docker.DockerOptions): Promise<Docker> {
  // Two hundred files, for those who use an engine.
  const { default: Engine } = await import("dockerode");
  return new Engine(endpoint);
}

/** @returns what answers there, or why nothing does, with the mend */
export async function ask(docker: Docker, name: string): Promise<{ what: string } | { lacks: string }> {
  try {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error("it hangs")), ANSWER_WITHIN_MS).unref();
    });
    const { Version } = await Promise.race([docker.version(), late]);
    return { what: `${name} ${Version} answers` };
  } catch (error) {
    return { lacks: whyNot(error, name) };
  }
}

function whyNot(error: unknown, name: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES")
    return `no permission to use ${name}: add yourself to its group (sudo usermod -aG docker $USER, then log in again)`;
  if (code === "ENOENT" || code === "ECONNREFUSED") return `${name} is not running`;
  return `${name} does not answer: ${messageOf(error)}`;
}

export async function factsOf(docker: Docker, name: string): Promise<EngineFacts> {
  const [version, info] = await Promise.all([docker.version(), docker.info()]);
  return {
    name,
    version: version.Version,
    api_version: version.ApiVersion,
    operating_system: info.OperatingSystem,
    kernel: info.KernelVersion,
    cpus: info.NCPU,
    memory_bytes: info.MemTotal,
    cgroup_version: String(info.CgroupVersion ?? "unknown"),
  };
}

/** @returns undefined when the engine does not have it */
export async function imageFacts(docker: Docker, name: string): Promise<ImageFacts | undefined> {
  try {
    const { Id, RepoDigests } = await docker.getImage(name).inspect();
    const digest = RepoDigests?.[0]?.split("@")[1];
    return { name, id: Id, ...(digest ? { digest } : {}) };
  } catch (error) {
    if (is(error, 404)) return undefined;
    throw error;
  }
}
