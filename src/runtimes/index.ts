import { local } from "./local.js";
import type { RuntimeDescription } from "./types.js";

/** In the order in which `auto` tries them. */
export const runtimes: readonly RuntimeDescription[] = [local];
