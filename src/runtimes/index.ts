import { docker } from "./docker.js";
import { local } from "./local.js";
import { podman } from "./podman.js";
import type { RuntimeDescription } from "./types.js";

/** In the order in which `auto` tries them. */
export const runtimes: readonly RuntimeDescription[] = [docker, podman, local];
