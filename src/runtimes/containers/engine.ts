import type Docker from "dockerode";
import { messageOf } from "../../contract/errors.js";
import type { EngineFacts, ImageFacts } from "../types.js";

const TIMEOUT_MS = 5_000;

/** Whether the engine answered with this HTTP status. */
export const hasStatus = (error: unknown, status: number): boolean =>
  (error as { statusCode?: number }).statusCode === status;

/** A client of an engine that has the Docker API. */
export async function engineAt(endpoint: Docker.DockerOptions): Promise<Docker> {
  // The library has two hundred files, so it is loaded only when an engine is used.
  const { default: Engine } = await import("dockerode");
  return new Engine(endpoint);
}

/** @returns what answers, or the reason why nothing does, with the fix */
export async function checkEngine(
  docker: Docker,
  name: string,
): Promise<{ what: string } | { unavailableReason: string }> {
  try {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error("it hangs")), TIMEOUT_MS).unref();
    });
    const { Version } = await Promise.race([docker.version(), late]);
    return { what: `${name} ${Version} answers` };
  } catch (error) {
    return { unavailableReason: unavailableReason(error, name) };
  }
}

function unavailableReason(error: unknown, name: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES")
    return `no permission to use ${name}: add yourself to its group (sudo usermod -aG docker $USER, then log in again)`;
  if (code === "ENOENT" || code === "ECONNREFUSED") return `${name} is not running`;
  return `${name} does not answer: ${messageOf(error)}`;
}

export async function engineFacts(docker: Docker, name: string): Promise<EngineFacts> {
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

/** @returns undefined when the engine does not have the image */
export async function imageFacts(docker: Docker, name: string): Promise<ImageFacts | undefined> {
  try {
    const { Id, RepoDigests } = await docker.getImage(name).inspect();
    const digest = RepoDigests?.[0]?.split("@")[1];
    return { name, id: Id, ...(digest ? { digest } : {}) };
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}
