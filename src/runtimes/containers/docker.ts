import { execa } from "execa";
import { containerRuntime } from "./description.js";
import { engineAt } from "./engine.js";

/** The host of the user's current Docker context; undefined for the default socket. */
async function contextHost(): Promise<string | undefined> {
  if (process.env.DOCKER_HOST) return process.env.DOCKER_HOST;
  const { stdout, failed } = await execa(
    "docker",
    ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"],
    { reject: false, timeout: 10_000, stdin: "ignore" },
  );
  return failed ? undefined : stdout.trim() || undefined;
}

/** Containers on a Docker engine, which may run in a virtual machine. */
export const docker = containerRuntime({
  id: "docker",
  name: "Docker",
  async connect() {
    const host = await contextHost();
    const socket = host?.startsWith("unix://") ? { socketPath: host.slice("unix://".length) } : {};
    return {
      id: "docker",
      name: "Docker",
      // Without a socket path the library reads DOCKER_HOST and the variables that belong to it.
      docker: await engineAt(socket),
      builder: { binary: "docker", environment: {} },
      async close() {},
    };
  },
});
