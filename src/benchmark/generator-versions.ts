import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export function packageVersion(path: string): string {
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
  return version;
}

/** The loaded versions of what generates the load, except those of a driver's libraries. */
export const generatorVersions = (): { node: string; harness: string } => ({
  node: process.versions.node,
  harness: packageVersion(require.resolve("../../package.json")),
});
