import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  LOADER,
  type PackageVersion,
  versionFolderName,
  versionsFolder,
} from "../contract/library-versions.js";
import { environmentError } from "../kit/errors.js";

/**
 * Reads the version from the package.json above the module, because many packages do not export
 * theirs.
 * @param from the importing file
 * @throws Error when the package cannot be resolved, or no package.json above it carries its name
 */
export function packageVersion(name: string, from: string = import.meta.url): string {
  const entry = createRequire(from).resolve(name);
  for (let folder = dirname(entry); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (!existsSync(file)) continue;
    const manifest = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
    if (manifest.name === name && manifest.version) return manifest.version;
  }
  throw new Error(`no package.json of ${name} above ${entry}`);
}

/**
 * Where a client or a limiter loads its library from: the project, or the folder of a requested
 * version.
 */
export interface Libraries {
  /**
   * @param own imports the project's version; a library from elsewhere is assumed to have the same
   *   exports
   */
  load<Module>(name: string, importInstalled: () => Promise<Module>): Promise<Module>;
  /** Imports a package from that folder: the requested one, or one that was installed with it. */
  fromFolder<Module>(name: string): Promise<Module>;
  /** The version of the library that `load` gives, from its package.json. */
  version(name: string): string;
}

export const ownLibraries: Libraries = {
  load: (_name, importInstalled) => importInstalled(),
  fromFolder: (name) => import(name),
  version: (name) => packageVersion(name),
};

export function librariesWith(versions: string, requested: PackageVersion): Libraries {
  const loader = join(versions, versionFolderName(requested), LOADER.file);
  if (!existsSync(loader)) {
    throw environmentError(
      `${requested.name} ${requested.version} is not installed: a campaign that names it (--clients, --limiter, --framework) installs it`,
    );
  }
  const isThere = (name: string) =>
    name === requested.name ||
    requested.with?.some((companion) => companion.startsWith(`${name}@`));
  const fromFolder = async <Module>(name: string): Promise<Module> => {
    const { default: load } = (await import(pathToFileURL(loader).href)) as {
      default: (name: string) => Promise<Module>;
    };
    return load(name);
  };
  return {
    load: (name, importInstalled) => (isThere(name) ? fromFolder(name) : importInstalled()),
    fromFolder,
    version: (name) => packageVersion(name, isThere(name) ? loader : undefined),
  };
}

/**
 * The exports of a CommonJS package, whose names Node cannot always tell; a loader may give them
 * without `default`.
 */
export const commonJs = async <Exports>(
  loading: Promise<{ default?: Exports }>,
): Promise<Exports> => {
  const loaded = await loading;
  return loaded.default ?? (loaded as Exports);
};

/**
 * Loads what is installed on demand.
 * @param folder the folder of the installed versions, by default that of the user
 * @throws environmentError
 */
export const librariesOnDemand = (
  requested: PackageVersion | undefined,
  folder?: string,
): Libraries =>
  requested ? librariesWith(folder ?? versionsFolder(process.env), requested) : ownLibraries;
