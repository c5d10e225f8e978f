import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { environmentError } from "../contract/errors.js";
import { LOADER, type PackageVersion, versionFolderName } from "../contract/versions.js";
import { packageVersion } from "./version.js";

/** Where a client or a limiter loads its library from: the project, or the folder of a version that was asked for. */
export interface Libraries {
  /** @param own imports the project's: what is loaded elsewhere is taken to be of the same shape */
  load<Module>(name: string, own: () => Promise<Module>): Promise<Module>;
  /** Version of what `load` gives, from its own package.json. */
  version(name: string): string;
}

export const ownLibraries: Libraries = {
  load: (_name, own) => own(),
  version: (name) => packageVersion(name),
};

/**
 * Libraries of which one is loaded from its folder below `versions`, and by the way Node resolves an import there.
 * @throws environmentError when it was not installed
 */
export function librariesWith(versions: string, asked: PackageVersion): Libraries {
  const loader = join(versions, versionFolderName(asked), LOADER.file);
  if (!existsSync(loader)) {
    throw environmentError(
      `${asked.name} ${asked.version} is not installed: a campaign that names it (--clients, --limiter) installs it`,
    );
  }
  return {
    async load<Module>(name: string, own: () => Promise<Module>): Promise<Module> {
      if (name !== asked.name) return own();
      const { default: load } = (await import(pathToFileURL(loader).href)) as {
        default: (name: string) => Promise<Module>;
      };
      return load(name);
    },
    version: (name) => packageVersion(name, name === asked.name ? loader : undefined),
  };
}
