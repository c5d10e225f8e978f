import type { DockerHosts } from "../../contract/machines.js";
import type { Leftover, Owner, RuntimeDescription } from "../types.js";
import { containerRuntime } from "./description.js";
import { connectTo, connectToCurrent } from "./endpoint.js";
import { orphanedTunnels } from "./ssh-tunnel.js";

const withTunnels = (description: RuntimeDescription): RuntimeDescription => ({
  ...description,
  leftovers: async (isAlive: (owner: Owner) => Promise<boolean>): Promise<Leftover[]> => [
    ...(await description.leftovers(isAlive)),
    ...(await orphanedTunnels(isAlive)),
  ],
});

const current = { name: "Docker", connect: () => connectToCurrent("Docker") };

/** Containers on the user's current Docker engine, which may run in a virtual machine or on another one. */
export const docker: RuntimeDescription = withTunnels(containerRuntime({ id: "docker", engines: [current] }));

/** Containers on the Docker engines of several machines, by role. */
export function dockerOn({ network, hosts }: DockerHosts): RuntimeDescription {
  const engines = hosts.map((host) => {
    const name = `Docker on ${host.name}`;
    return { name, host, connect: () => connectTo(host, name) };
  });
  return {
    ...withTunnels(containerRuntime({ id: "docker", engines, network, imageSource: current })),
    reaches: "docker",
  };
}
