import { environmentError } from "../../contract/errors.js";
import { type Libraries, librariesWith, ownLibraries } from "../../targets/libraries.js";

/** A package that the target needs, and its requested version, if any. */
interface RequestedPackage {
  package?: string | undefined;
  version?: string | undefined;
}

/** Where that package is loaded from. @throws environmentError when the version is not installed */
export function librariesFor({ package: name, version }: RequestedPackage, folder: string): Libraries {
  return name && version ? librariesWith(folder, { name, version }) : ownLibraries;
}

/** A client or limiter of a plugin may load another version. @throws environmentError naming both versions */
export function requireVersion(
  { package: name, version }: RequestedPackage,
  loaded: string | undefined,
): void {
  if (version === undefined || version === loaded) return;
  throw environmentError(
    `${name} ${version} was requested, but ${loaded ?? "an unknown version"} was loaded`,
  );
}
