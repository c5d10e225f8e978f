import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export function packageVersion(path: string): string {
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
  return version;
}

/** Versions of what generates the load, as loaded, besides the libraries of a driver. */
export const generatorVersions = (): { node: string; harness: string } => ({
  node: process.versions.node,
  harness: packageVersion(require.resolve("../../package.json")),
});
