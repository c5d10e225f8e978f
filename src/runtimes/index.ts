import type { RuntimeAccess } from "../contract/machines.js";
import { docker, dockerOn } from "./containers/docker.js";
import { podman } from "./containers/podman.js";
import { kubernetesRuntime } from "./kubernetes/kubernetes-description.js";
import { local } from "./local/local-runtime.js";
import type { RuntimeDescription } from "./runtime-types.js";

/** The runtimes that `auto` tries, in this order. They need no machine but this one. */
export const autoRuntimeIds: readonly string[] = [docker, podman, local].map(({ id }) => id);

/** The runtimes that a user can choose besides `auto`. */
export const runtimeIds: readonly string[] = [...autoRuntimeIds, kubernetesRuntime().id];

/** All runtimes, on the machines that a campaign names. */
export const runtimesFor = (access: RuntimeAccess): readonly RuntimeDescription[] => [
  access.docker ? dockerOn(access.docker) : docker,
  podman,
  local,
  kubernetesRuntime(access.kubernetes),
];
