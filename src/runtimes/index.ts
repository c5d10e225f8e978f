import { docker } from "./containers/docker.js";
import { podman } from "./containers/podman.js";
import { local } from "./local/runtime.js";
import type { RuntimeDescription } from "./types.js";

/** In the order in which `auto` tries them. */
export const runtimes: readonly RuntimeDescription[] = [docker, podman, local];
