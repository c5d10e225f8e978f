import type { OwnProgram } from "./types.js";

/** The programs of this project: each has an image of its own, and runs in Node.js everywhere. */
export const ownPrograms: readonly OwnProgram[] = ["server", "loadtest"];

/** The version in what a program prints for `--version`, e.g. `v=9.1.2` or `memcached 1.6.38`. */
export const versionIn = (printed: string): string => /\bv?=?(\d+(?:\.\d+)+)/.exec(printed)?.[1] ?? "unknown";
