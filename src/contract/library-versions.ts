import { join } from "node:path";
import { z } from "zod";
import type { Environment } from "../kit/env.js";
import { userFolder } from "../kit/user-folder.js";

export const packageVersionSchema = z.strictObject({
  name: z.string().min(1).max(214),
  version: z.string().min(1).max(40),
  /** Packages that are installed with it, as `name@version`. */
  with: z.array(z.string()).readonly().optional(),
});
export type PackageVersion = z.infer<typeof packageVersionSchema>;

export const installedVersionSchema = z.strictObject({
  name: z.string().min(1).max(214),
  version: z.string().min(1).max(40),
  /** A checksum over `packages` and the checksum of each in the registry. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /**
   * The versions of all installed packages by path. Version ranges resolve differently over time.
   */
  packages: z.record(z.string(), z.string()),
});
export type InstalledVersion = z.infer<typeof installedVersionSchema>;

export const versionFolderName = ({ name, version }: PackageVersion): string =>
  `${name.replace("/", "+")}-${version}`;

/**
 * A module that is written into each such folder. Its default export imports a package from there.
 */
export const LOADER = {
  file: "load.mjs",
  text: "export default (name) => import(name);\n",
} as const;

export const versionsFolder = (env: Environment): string =>
  join(userFolder(env, "XDG_CACHE_HOME"), "versions");
