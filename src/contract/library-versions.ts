import { join } from "node:path";
import { z } from "zod";
import type { Environment } from "../kit/env.js";
import { userFolder } from "../kit/user-folder.js";

export interface PackageVersion {
  name: string;
  version: string;
  /** Packages that are installed with it, as `name@version`. */
  with?: readonly string[];
}

export const versionFactsSchema = z.strictObject({
  name: z.string().min(1).max(214),
  version: z.string().min(1).max(40),
  /** Checksum over `packages` and the registry's checksum of each. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Versions of all installed packages by path, because ranges resolve differently over time. */
  packages: z.record(z.string(), z.string()),
});
export type VersionFacts = z.infer<typeof versionFactsSchema>;

export const versionFolderName = ({ name, version }: PackageVersion): string =>
  `${name.replace("/", "+")}-${version}`;

/** A module in each such folder; its default export imports a package from there. */
export const LOADER = {
  file: "load.mjs",
  text: "export default (name) => import(name);\n",
} as const;

export const versionsFolder = (env: Environment): string =>
  join(userFolder(env, "XDG_CACHE_HOME"), "versions");
