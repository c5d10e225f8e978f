import { execa } from "execa";
import { containersOn } from "./containers/describe.js";
import { engineAt } from "./containers/engine.js";

/** The engine of the context that the user has chosen; the usual socket where there is no choice. */
async function chosenHost(): Promise<string | undefined> {
  if (process.env.DOCKER_HOST) return process.env.DOCKER_HOST;
  const { stdout, failed } = await execa(
    "docker",
    ["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"],
    { reject: false, timeout: 10_000, stdin: "ignore" },
  );
  return failed ? undefined : stdout.trim() || undefined;
}

/** Containers on a Docker engine, also one in a virtual machine. */
export const docker = containersOn({
  id: "docker",
  name: "Docker",
  async reach() {
    const host = await chosenHost();
    const socket = host?.startsWith("unix://") ? { socketPath: host.slice("unix://".length) } : {};
    return {
      id: "docker",
      name: "Docker",
      // Without a socket the library reads DOCKER_HOST itself, with all that belongs to it.
      docker: await engineAt(socket),
      builder: { binary: "docker", environment: {} },
      async close() {},
    };
  },
});
