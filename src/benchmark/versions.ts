import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const versionIn = (path: string): string => {
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
  return version;
};

/** Versions of what generates the load, as loaded. */
export function generatorVersions(): { node: string; autocannon: string; harness: string } {
  return {
    node: process.versions.node,
    autocannon: versionIn(require.resolve("autocannon/package.json")),
    harness: versionIn(require.resolve("../../package.json")),
  };
}
