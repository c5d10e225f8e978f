import type { ModuleDescription } from "../types.js";

/** Modules that decide inside the store: one file each, and one line here. */
export const modules: readonly ModuleDescription[] = [];
