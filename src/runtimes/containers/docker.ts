import type { DockerHosts } from "../../contract/machines.js";
import type { RuntimeDescription } from "../runtime-types.js";
import { containerRuntime } from "./container-description.js";
import { connectTo, connectToCurrent, SSH_TUNNEL } from "./endpoint.js";

const current = { name: "Docker", connect: () => connectToCurrent("Docker") };

/**
 * Containers on the user's current Docker engine, which may run in a virtual machine or on another
 * one.
 */
export const docker: RuntimeDescription = containerRuntime({
  id: "docker",
  engines: [current],
  service: SSH_TUNNEL,
});

/** Containers on the Docker engines of several machines, by role. */
export function dockerOn({ network, hosts }: DockerHosts): RuntimeDescription {
  const engines = hosts.map((host) => {
    const name = `Docker on ${host.name}`;
    return { name, host, connect: () => connectTo(host, name) };
  });
  return {
    ...containerRuntime({
      id: "docker",
      engines,
      network,
      imageSource: current,
      service: SSH_TUNNEL,
    }),
    reaches: "docker",
  };
}
