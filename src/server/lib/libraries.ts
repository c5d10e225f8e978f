import { environmentError } from "../../contract/errors.js";
import { type Libraries, librariesWith, ownLibraries } from "../../targets/libraries.js";

/** A package that the target needs, and the version of it that was asked for, if any. */
interface Wanted {
  package?: string | undefined;
  version?: string | undefined;
}

/** Where that package is loaded from. @throws environmentError when the version is not installed */
export function librariesFor({ package: name, version }: Wanted, folder: string): Libraries {
  return name && version ? librariesWith(folder, { name, version }) : ownLibraries;
}

/** A client or a limiter of a plugin may load its library in its own way. @throws environmentError naming both */
export function requireVersion({ package: name, version }: Wanted, loaded: string | undefined): void {
  if (version === undefined || version === loaded) return;
  throw environmentError(`${name} ${version} was asked for, ${loaded ?? "one that is not known"} was loaded`);
}
