import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import type { Environment } from "./env.js";

/** One version of an npm package that was asked for beside the project's own. */
export interface PackageVersion {
  name: string;
  version: string;
}

/** What was installed for a version that was asked for. */
export const versionFactsSchema = z.strictObject({
  name: z.string().min(1).max(214),
  version: z.string().min(1).max(40),
  /** Over `packages` and the registry's checksum of each. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Version of every package that came with it, by where it lies: what a range allowed on that day. */
  packages: z.record(z.string(), z.string()),
});
export type VersionFacts = z.infer<typeof versionFactsSchema>;

/** The folder of a version below the one for all: `ioredis-5.6.1`, `@fastify+rate-limit-10.3.0`. */
export const versionFolderName = ({ name, version }: PackageVersion): string =>
  `${name.replace("/", "+")}-${version}`;

/** In each such folder: a module whose default imports a package as if it were written there. */
export const LOADER = { file: "load.mjs", text: "export default (name) => import(name);\n" } as const;

/** Where versions are kept on this machine, by the XDG rules: a relative path counts as unset. */
export function versionsFolder({ XDG_CACHE_HOME: named = "" }: Environment): string {
  return join(isAbsolute(named) ? named : join(homedir(), ".cache"), "ratelimit-bench", "versions");
}

/** The environment that tells a program where they are. */
export function encodeVersions(folder: string | undefined): Record<string, string> {
  return folder === undefined ? {} : { VERSIONS: folder };
}

/** Where a program finds them: what it was told, or this user's. */
export const decodeVersions = (env: Environment): string => env.VERSIONS || versionsFolder(env);
